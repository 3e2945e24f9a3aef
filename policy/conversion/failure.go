package conversion

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/webhookclient"
)

type failureType string

const (
	// callFailure means that no response was received. malformedAnswer means that the response does
	// not match the request or reports a failure. partialAnswer means that the number of objects is
	// wrong. invalidConverted means that a converted object is invalid.
	callFailure      failureType = "conversion_webhook_call_failure"
	malformedAnswer  failureType = "conversion_webhook_malformed_response_failure"
	partialAnswer    failureType = "conversion_webhook_partial_response_failure"
	invalidConverted failureType = "conversion_webhook_invalid_converted_object_failure"
)

type failure struct {
	kind   failureType
	text   string
	reason error // underlying error, or nil
}

func (f *failure) Error() string { return f.text }

func (f *failure) Unwrap() error { return f.reason }

func (q *question) failed(kind failureType, err error) error {
	return &failure{kind, "conversion webhook for " + q.subject() + " failed: " + webhookclient.Truncate(err.Error()), err}
}

func (q *question) returned(kind failureType, format string, args ...any) error {
	return &failure{kind: kind, text: "conversion webhook for " + q.subject() + " returned " + webhookclient.Truncate(fmt.Sprintf(format, args...))}
}

func (q *question) invalidAt(i int, reason any) error {
	if len(q.objects) > 1 {
		return q.returned(invalidConverted, "invalid converted object at index %d: %v", i, reason)
	}
	return q.returned(invalidConverted, "invalid object: %v", reason)
}

func status(err error) error {
	var known *meta.Status
	if errors.As(err, &known) {
		return known
	}
	return &meta.Status{Code: http.StatusInternalServerError, Message: err.Error()}
}
