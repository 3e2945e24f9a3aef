package webhook

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A callFailure says that a hook could not be asked, or that its answer is none. The failurePolicy decides
// what follows. A refusal is never one: the failurePolicy must not let pass what a hook has refused.
type callFailure struct {
	hook   string
	reason error
	code   int // for metrics
}

func (f *callFailure) Error() string {
	return fmt.Sprintf("failed calling webhook %q: %s", f.hook, webhookclient.Truncate(f.reason.Error()))
}

func (f *callFailure) Unwrap() error { return f.reason }

// failed is a callFailure; what begins its text.
func (h *hook) failed(code int, what string, err error) error {
	return &callFailure{hook: h.name, reason: fmt.Errorf("%s: %w", what, err), code: code}
}

// A rejection says that a hook has refused the change.
type rejection struct{ status *meta.Status }

func (r *rejection) Error() string { return r.status.Message }

// maxRefusal is the highest code that a client can be sent: net/http panics on any above, and a hook must
// not be able to make it.
const maxRefusal = 999

// rejected is the refusal of a hook, with what it says of it. A hook may answer with any Status; its code
// is kept within those of errors, and the message says whose it is.
func (h *hook) rejected(result tree.Tree) error {
	s := statusOf(result)
	switch {
	case s.Code < http.StatusBadRequest:
		s.Code = http.StatusBadRequest
	case s.Code > maxRefusal: // which is no code of HTTP
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

// statusOf reads a Status of a failure. Only what a Status of this server can hold is taken over.
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

// internal is the refusal of a request because of an error that is not the client's.
func internal(err error) *meta.Status {
	return &meta.Status{
		Code: http.StatusInternalServerError, Reason: meta.ReasonInternalError, Message: "Internal error occurred: " + err.Error(),
		Details: &meta.Details{Causes: []meta.Cause{{Message: err.Error()}}},
	}
}

// dryRunUnsupported refuses a dry run that a hook with side effects would have to be asked about. The
// failurePolicy is not asked, for the hook has not failed: to leave it out would make the dry run differ
// from the write.
func (h *hook) dryRunUnsupported() error {
	return meta.NewBadRequest(fmt.Sprintf("admission webhook %q does not support dry run", h.name))
}

// refusal is the error that the client gets for one of a hook. A hook that could not be asked is an
// internal error, as the client has done nothing wrong.
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

// errTimeout refuses a request whose time was over when a hook had failed that may fail.
func errTimeout() error { return meta.NewTimeout("request did not complete within requested timeout") }
