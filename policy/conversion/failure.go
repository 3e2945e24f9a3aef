package conversion

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

// A failureType is why a conversion has failed, as metrics know it.
type failureType string

const (
	// callFailure: no answer was read. malformedAnswer: it is not the answer to this question, or says that the
	// webhook has failed. partialAnswer: it has another number of objects. invalidConverted: one of them is not what
	// it has to be.
	callFailure      failureType = "conversion_webhook_call_failure"
	malformedAnswer  failureType = "conversion_webhook_malformed_response_failure"
	partialAnswer    failureType = "conversion_webhook_partial_response_failure"
	invalidConverted failureType = "conversion_webhook_invalid_converted_object_failure"
)

// A failure says why a question has no good answer.
type failure struct {
	kind   failureType
	text   string
	reason error // nil if the text says all
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.reason }

// failed is a failure of the whole question. A webhook may answer with much more than clients and logs want to hear, so the
// text is cut.
func (q *question) failed(kind failureType, err error) error {
	return &failure{kind, "conversion webhook for " + q.subject() + " failed: " + webhookclient.Truncate(err.Error()), err}
}

// returned is a failure by what was returned; the text goes on behind "returned".
func (q *question) returned(kind failureType, format string, args ...any) error {
	return &failure{kind: kind, text: "conversion webhook for " + q.subject() + " returned " + webhookclient.Truncate(fmt.Sprintf(format, args...))}
}

// invalidAt is a failure by the object at a place of the answer, which the text may name. reason is an error or a text.
func (q *question) invalidAt(i int, reason any) error {
	if len(q.objects) > 1 {
		return q.returned(invalidConverted, "invalid converted object at index %d: %v", i, reason)
	}
	return q.returned(invalidConverted, "invalid object: %v", reason)
}

// status is an error as clients get it. Clients get nothing of the kind of a failure; that is for metrics.
func status(err error) error {
	var known *meta.Status
	if errors.As(err, &known) {
		return known
	}
	return &meta.Status{Code: http.StatusInternalServerError, Message: err.Error()}
}
