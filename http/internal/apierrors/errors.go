package apierrors

import (
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Text is a failure that is answered as plain text, where clients know it so.
type Text struct{ Status *meta.Status }

// Error implements error.
func (t *Text) Error() string { return t.Status.Message }

// Unwrap is the Status, as the audit sees it.
func (t *Text) Unwrap() error { return t.Status }

// PageNotFound is the answer to a path where nothing is, and nothing of this server could be.
func PageNotFound() *Text {
	return &Text{&meta.Status{Code: 404, Reason: meta.ReasonNotFound, Message: "404 page not found"}}
}

// Unreachable is the answer of a server that is to pass a request on, and cannot.
func Unreachable(message string) *Text {
	return &Text{&meta.Status{Code: 503, Reason: meta.ReasonServiceUnavailable, Message: message}}
}

// Misconfigured is the answer where a request cannot be passed on for what an administrator has written.
func Misconfigured(message string) *Text {
	return &Text{&meta.Status{Code: 500, Reason: meta.ReasonInternalError, Message: message}}
}

func BadRequest(message string) *meta.Status {
	return &meta.Status{Code: 400, Reason: meta.ReasonBadRequest, Message: message}
}

// Unauthorized says nothing of the reason, which would help whoever guesses credentials.
func Unauthorized() *meta.Status {
	return &meta.Status{Code: 401, Reason: meta.ReasonUnauthorized, Message: "Unauthorized"}
}

// UnauthorizedBecause is Unauthorized with the reason of a remote authenticator.
func UnauthorizedBecause(reason string) *meta.Status {
	return &meta.Status{Code: 401, Reason: meta.ReasonUnauthorized, Message: reason}
}

// PathNotFound is about a path, unlike the NotFound of an object, which names it.
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

// NotAcceptable is for an Accept header of which nothing can be served.
func NotAcceptable(message string) *meta.Status {
	return &meta.Status{Code: 406, Reason: meta.ReasonNotAcceptable, Message: message}
}

func RequestTooLarge(message string) *meta.Status {
	return &meta.Status{Code: 413, Reason: meta.ReasonRequestTooLarge, Message: message}
}

// UnsupportedMedia lists the media types that would have been accepted.
func UnsupportedMedia(accepted []string) *meta.Status {
	return &meta.Status{
		Code: 415, Reason: meta.ReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", "),
	}
}

// TooManyRequests asks to retry after a second, which the Retry-After header repeats; client libraries then
// retry by themselves.
func TooManyRequests() *meta.Status {
	return &meta.Status{
		Code: 429, Reason: meta.ReasonTooManyRequests, Details: &meta.Details{RetryAfterSeconds: 1},
		Message: "the server has received too many requests and has asked us to try again later",
	}
}

// RequestTimeout is for a body that comes too slowly; that the server was slow is GatewayTimeout.
func RequestTimeout() *meta.Status {
	return &meta.Status{Code: 408, Reason: meta.ReasonTimeout, Message: "the request did not arrive in time"}
}

// InternalError keeps what went wrong from the client, but tells the id under which it is logged.
func InternalError(id string) *meta.Status {
	return &meta.Status{
		Code: 500, Reason: meta.ReasonInternalError,
		Message: "Internal error occurred: the server's log says more under the id " + id,
		Details: &meta.Details{Causes: []meta.Cause{{Message: "the server's log says more under the id " + id}}},
	}
}

// ShuttingDown tells clients to try again, by when another server or the next process answers.
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

// InvalidOptions is the answer to faulty options; group is that of the meta kinds, and kind is as in
// "ListOptions". It is nil without faults, so that callers return it directly. The message has the form of
// an invalid object, whose name is empty.
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
