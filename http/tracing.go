package http

import (
	"context"
	"slices"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/policy"
	"github.com/troupe-api/troupe/policy/authn"
)

// startSpan starts the span of a request, named and sampled as in kube-apiserver: only members of
// system:masters and system:monitoring continue their traces. The traces of other users are linked,
// so that these users cannot force sampling.
func (s *Server) startSpan(x *requestContext) {
	h := &x.ctx.Request.Header
	parent := propagation.TraceContext{}.Extract(context.Background(), traceHeaders{h})
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithTimestamp(x.start)}
	if !mayContinueTrace(x.attributes.User) {
		options = append(options, trace.WithNewRoot())
		if c := trace.SpanContextFromContext(parent); c.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: c}))
		}
	}
	var ctx context.Context
	ctx, x.span = s.opts.TracerProvider.Tracer(policy.TracerName).Start(parent, spanName(&x.info), options...)
	x.deadlineCtx.SetValues(ctx)
	if x.span.IsRecording() {
		x.span.SetAttributes(
			semconv.HTTPRequestMethodKey.String(x.info.Method), semconv.URLScheme("https"), semconv.URLPath(x.info.Path),
			semconv.UserAgentOriginal(truncateUserAgent(x.ctx.UserAgent())), semconv.ClientAddress(x.ctx.RemoteIP().String()),
			attribute.String("http.target", credentials.Redact(x.target.Raw)), attribute.String("audit-id", x.auditID),
		)
	}
}

func mayContinueTrace(user *authn.User) bool {
	return slices.Contains(user.Groups, authn.GroupMasters) || slices.Contains(user.Groups, authn.GroupMonitoring)
}

func (x *requestContext) endSpan(code int) {
	x.span.SetAttributes(semconv.HTTPResponseStatusCode(code))
	if code >= fasthttp.StatusInternalServerError {
		x.span.SetStatus(codes.Error, "")
	}
	x.span.End()
}

// spanName replaces names in the path, so that the number of span names is limited.
func spanName(i *requestinfo.Info) string {
	if !i.IsResource {
		return i.Method
	}
	path := "/api"
	if i.Group != "" {
		path = "/apis/" + i.Group
	}
	path += "/" + i.Version
	if i.Namespace != "" {
		path += "/namespaces/{:namespace}"
	}
	path += "/" + i.Resource
	if i.Name != "" {
		path += "/{:name}"
	}
	if i.Subresource != "" {
		path += "/" + i.Subresource
	}
	return i.Method + " " + path
}

// traceHeaders reads the headers of the W3C trace context.
type traceHeaders struct{ *fasthttp.RequestHeader }

func (h traceHeaders) Get(key string) string { return string(h.Peek(key)) }

func (h traceHeaders) Set(key, value string) {}

func (h traceHeaders) Keys() []string { return nil }

// A tracedStore adds a span to each read and write of a request.
type tracedStore struct {
	Store
	tracer trace.Tracer
}

func (s tracedStore) Get(ctx context.Context, r request.Get) (*meta.Object, error) {
	ctx, span := s.tracer.Start(ctx, "Get")
	o, err := s.Store.Get(ctx, r)
	endSpan(span, err)
	return o, err
}

func (s tracedStore) List(ctx context.Context, r request.List) (request.ListResult, error) {
	ctx, span := s.tracer.Start(ctx, "List")
	result, err := s.Store.List(ctx, r)
	endSpan(span, err)
	return result, err
}

// Mutate adds a span that covers admission and the commit.
func (s tracedStore) Mutate(ctx context.Context, m request.Mutation) (request.Result, error) {
	ctx, span := s.tracer.Start(ctx, mutationName(m.Change))
	result, err := s.Store.Mutate(ctx, m)
	endSpan(span, err)
	return result, err
}

func (s tracedStore) DeleteCollection(ctx context.Context, l request.List, m request.Mutation) (request.ListResult, error) {
	ctx, span := s.tracer.Start(ctx, "Delete")
	result, err := s.Store.DeleteCollection(ctx, l, m)
	endSpan(span, err)
	return result, err
}

// maxStatusLength limits the error in a span, in bytes.
const maxStatusLength = 1 << 10

func endSpan(span trace.Span, err error) {
	if err != nil {
		text := err.Error()
		span.SetStatus(codes.Error, text[:min(len(text), maxStatusLength)])
	}
	span.End()
}

func mutationName(c request.Change) string {
	switch c.(type) {
	case request.Create:
		return "Create"
	case request.Update:
		return "Update"
	case request.Delete:
		return "Delete"
	}
	return "Patch"
}
