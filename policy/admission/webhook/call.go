package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/admission/review"
	"github.com/troupe-api/troupe/policy/remote"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// ask checks preconditions and calls the webhook. It records annotations and warnings even if the
// webhook denies the request. The error is a *callFailure, a *rejection, or a *meta.Status.
func (h *hook) ask(ctx context.Context, v *review.View, a *request.Attributes, p *Plugin) (*answer, error) {
	switch {
	case a.DryRun() && !h.dryRuns:
		// The failurePolicy does not apply, because a dry run without the webhook would differ from
		// the actual write.
		return nil, meta.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
	case h.version == "":
		return nil, h.failed(http.StatusBadRequest, "could not create admission objects",
			fmt.Errorf("webhook does not accept known AdmissionReview versions (%s)", strings.Join(reviewVersions, ", ")))
	case h.fault != nil:
		return nil, h.failed(http.StatusInternalServerError, "could not get REST client", h.fault)
	case h.caller.err != nil:
		return nil, h.failed(http.StatusInternalServerError, "could not get REST client", h.caller.err)
	}
	q := newQuestion(v, h.version, p.options.Naming)
	response, err := h.call(ctx, q)
	if err != nil {
		return nil, h.failed(http.StatusServiceUnavailable, "failed to call webhook", err)
	}
	t, err := webhookclient.ReadReview(response)
	if err != nil {
		code := response.Code
		if code < http.StatusBadRequest {
			code = http.StatusServiceUnavailable
		}
		return nil, h.failed(code, "failed to call webhook", err)
	}
	said, err := verify(t, q, h.version, h.sort)
	if err != nil {
		return nil, h.failed(http.StatusServiceUnavailable, "received invalid webhook response", err)
	}
	p.record(h, a, said)
	if !said.allowed {
		return nil, h.rejected(said.result)
	}
	if err := said.readPatch(); err != nil {
		return nil, &callFailure{hook: h.name, reason: err, code: http.StatusServiceUnavailable}
	}
	return said, nil
}

// call sends the review, in a span if the request is traced.
func (h *hook) call(ctx context.Context, q question) (remote.Response, error) {
	name := "Call mutating webhook"
	if h.sort == validating {
		name = "Call validating webhook"
	}
	ctx, span := trace.SpanFromContext(ctx).TracerProvider().Tracer(policy.TracerName).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	if span.IsRecording() {
		span.SetAttributes(attribute.String("configuration", h.configuration), attribute.String("webhook", h.name), attribute.String("UID", q.uid))
	}
	response, err := h.caller.ask(ctx, h.timeout, q.body)
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	return response, err
}

// An outcome classifies the result of a call for metrics and the failurePolicy.
type outcome struct {
	code     int
	kind     errorKind
	rejected bool
	canceled bool // the client gave up
	opens    bool // the call failed, and the failurePolicy is Ignore
}

// outcomeOf classifies the error of a call. Metrics do not count canceled requests as rejections,
// because the webhook is not at fault.
func (h *hook) outcomeOf(err error) outcome {
	var failed *callFailure
	var rejected *rejection
	switch {
	case err == nil:
		return outcome{code: http.StatusOK}
	case errors.As(err, &failed):
		return outcome{code: failed.code, kind: callingError, rejected: !h.ignoresFaults, opens: h.ignoresFaults, canceled: errors.Is(err, context.Canceled)}
	case errors.As(err, &rejected):
		return outcome{code: rejected.status.Code, kind: noError, rejected: true}
	}
	return outcome{kind: internalError, rejected: true}
}
