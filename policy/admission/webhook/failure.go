package webhook

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A callFailure is a failed call or an invalid response, to which the failurePolicy applies.
type callFailure struct {
	hook   string
	reason error
	code   int // for metrics
}

func (f *callFailure) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %s", f.hook, webhookclient.Truncate(f.reason.Error()))
}

func (f *callFailure) Unwrap() error { return f.reason }

func (h *hook) failed(code int, what string, err error) error {
	return &callFailure{hook: h.name, reason: fmt.Errorf("%s: %w", what, err), code: code}
}

type rejection struct{ status *meta.Status }

func (r *rejection) Error() string { return r.status.Message }

// maxRefusal is the highest status code that net/http accepts. A higher code would cause a panic.
const maxRefusal = 999

// rejected converts a webhook's denial to a rejection. The webhook may return any Status, so
// rejected enforces an error code and adds the webhook's name to the message.
func (h *hook) rejected(result tree.Tree) error {
	s := statusOf(result)
	switch {
	case s.Code < http.StatusBadRequest:
		s.Code = http.StatusBadRequest
	case s.Code > maxRefusal: // not an HTTP code
		s.Code = http.StatusInternalServerError
	}
	denied := fmt.Sprintf("admission webhook %q denied the request", h.name)
	switch {
	case s.Message != "":
		s.Message = denied + ": " + s.Message
	case s.Reason != "":
		s.Message = denied + ": " + string(s.Reason)
	default:
		s.Message = denied + " without explanation"
	}
	return &rejection{s}
}

func statusOf(t tree.Tree) *meta.Status {
	code, _ := t.Int("code")
	s := &meta.Status{Code: int(code), Reason: meta.Reason(t.String("reason")), Message: t.String("message")}
	d := t.Object("details")
	if d == nil {
		return s
	}
	after, _ := d.Int("retryAfterSeconds")
	s.Details = &meta.Details{Name: d.String("name"), Group: d.String("group"), Kind: d.String("kind"), UID: d.String("uid"), RetryAfterSeconds: int(after)}
	for _, c := range d.Objects("causes") {
		s.Details.Causes = append(s.Details.Causes, meta.Cause{Type: meta.CauseType(c.String("reason")), Message: c.String("message"), Field: c.String("field")})
	}
	return s
}

func internal(err error) *meta.Status { return meta.NewInternalCause(err.Error()) }

func refusal(err error) error {
	var rejected *rejection
	var failed *callFailure
	switch {
	case errors.As(err, &rejected):
		return rejected.status
	case errors.As(err, &failed):
		return internal(err)
	}
	return err
}

func errTimeout() error { return meta.NewTimeout("request did not complete within requested timeout") }
