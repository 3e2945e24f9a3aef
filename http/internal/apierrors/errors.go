package apierrors

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Text is an error whose response is plain text.
type Text struct{ Status *meta.Status }

func (t *Text) Error() string { return t.Status.Message }

// Unwrap returns the Status, so that errors.As can convert the error to a *meta.Status.
func (t *Text) Unwrap() error { return t.Status }

// PageNotFound returns a 404 for a path that this server never serves.
func PageNotFound() *Text {
	return &Text{&meta.Status{Code: 404, Reason: meta.ReasonNotFound, Message: "404 page not found"}}
}

// Unreachable returns a 503 for a request that cannot be proxied.
func Unreachable(message string) *Text {
	return &Text{&meta.Status{Code: 503, Reason: meta.ReasonServiceUnavailable, Message: message}}
}

// Misconfigured returns a 500 for a request that cannot be proxied because of a configuration
// error.
func Misconfigured(message string) *Text {
	return &Text{&meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: message}}
}

func BadRequest(message string) *meta.Status {
	return &meta.Status{Code: 400, Reason: meta.ReasonBadRequest, Message: message}
}

// Unauthorized returns a 401 without a reason, because details would help an attacker guess
// credentials.
func Unauthorized() *meta.Status {
	return &meta.Status{Code: 401, Reason: meta.ReasonUnauthorized, Message: "Unauthorized"}
}

// UnauthorizedBecause returns a 401 with the reason of a remote authenticator.
func UnauthorizedBecause(reason string) *meta.Status {
	return &meta.Status{Code: 401, Reason: meta.ReasonUnauthorized, Message: reason}
}

// PathNotFound returns a 404 Status for a path without a resource. The details are empty.
func PathNotFound() *meta.Status {
	return &meta.Status{
		Code: 404, Reason: meta.ReasonNotFound, Details: &meta.Details{},
		Message: "the server could not find the requested resource",
	}
}

func MethodNotAllowed() *meta.Status {
	return &meta.Status{
		Code: 405, Reason: meta.ReasonMethodNotAllowed, Details: &meta.Details{},
		Message: "the server does not allow this method on the requested resource",
	}
}

// NotAcceptable returns a 406 for an Accept header that cannot be satisfied.
func NotAcceptable(message string) *meta.Status {
	return &meta.Status{Code: 406, Reason: meta.ReasonNotAcceptable, Message: message}
}

// RequestTooLarge returns a 413 for a request body of more than limit bytes.
func RequestTooLarge(limit int64) *meta.Status {
	return &meta.Status{Code: 413, Reason: meta.ReasonRequestTooLarge, Message: fmt.Sprintf("Request entity too large: limit is %d", limit)}
}

// UnsupportedMedia returns a 415 that lists the accepted media types.
func UnsupportedMedia(accepted []string) *meta.Status {
	return &meta.Status{
		Code: 415, Reason: meta.ReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", "),
	}
}

// TooManyRequests returns a 429 with Retry-After: 1, so that client libraries retry.
func TooManyRequests() *meta.Status {
	return &meta.Status{
		Code: 429, Reason: meta.ReasonTooManyRequests, Details: &meta.Details{RetryAfterSeconds: 1},
		Message: "the server has received too many requests and has asked us to try again later",
	}
}

// RequestTimeout returns a 408 for a body that arrives too slowly. Use GatewayTimeout if the server
// is too slow.
func RequestTimeout() *meta.Status {
	return &meta.Status{Code: 408, Reason: meta.ReasonTimeout, Message: "the request did not arrive in time"}
}

// InternalError returns a 500 that hides the error. Its message contains the ID of the log entry.
func InternalError(id string) *meta.Status {
	return meta.NewInternalCause("see the server's log for the id " + id)
}

// ShuttingDown returns a 503 with Retry-After: 1, because another server or the restarted process
// can soon handle the request.
func ShuttingDown() *meta.Status {
	return &meta.Status{
		Code: 503, Reason: meta.ReasonServiceUnavailable, Details: &meta.Details{RetryAfterSeconds: 1},
		Message: "the server is shutting down",
	}
}

func GatewayTimeout() *meta.Status {
	return &meta.Status{
		Code: 504, Reason: meta.ReasonTimeout, Details: &meta.Details{},
		Message: "Timeout: request did not complete within the allotted timeout",
	}
}

// InvalidOptions returns a 422 for invalid options, or nil if there are no faults. group is the
// meta group, and kind is, for example, "ListOptions". The message is that of an invalid object
// with an empty name.
func InvalidOptions(group, kind string, faults schema.Faults) error {
	if len(faults.List) == 0 {
		return nil
	}
	texts := make([]string, len(faults.List))
	for i, c := range faults.List {
		texts[i] = c.Field + ": " + c.Message
	}
	text := strings.Join(texts, ", ")
	if len(texts) > 1 {
		text = "[" + text + "]"
	}
	return &meta.Status{
		Code: 422, Reason: meta.ReasonInvalid,
		Message: kind + "." + group + ` "" is invalid: ` + text,
		Details: &meta.Details{Group: group, Kind: kind, Causes: faults.List},
	}
}
