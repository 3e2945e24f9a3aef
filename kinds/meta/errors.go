package meta

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// AsStatus returns the Status in err. It converts other errors to internal errors, which hide the
// message from clients.
func AsStatus(err error) *Status {
	var s *Status
	if errors.As(err, &s) {
		return s
	}
	return NewInternal("")
}

// HasReason reports whether err is a Status with the given reason.
func HasReason(err error, r Reason) bool {
	status, ok := errors.AsType[*Status](err)
	return ok && status.Reason == r
}

func newFailure(code int, reason Reason, details *Details, format string, args ...any) *Status {
	return &Status{Code: code, Reason: reason, Details: details, Message: fmt.Sprintf(format, args...)}
}

func newDetails(gr GroupResource, name string) *Details {
	return &Details{Name: name, Group: gr.Group, Kind: gr.Resource}
}

// NewNotFound reports that the object does not exist.
func NewNotFound(gr GroupResource, name string) *Status {
	return newFailure(http.StatusNotFound, ReasonNotFound, newDetails(gr, name), "%s %q not found", gr, name)
}

// NewAlreadyExists reports that the name is already taken.
func NewAlreadyExists(gr GroupResource, name string) *Status {
	return newFailure(http.StatusConflict, ReasonAlreadyExists, newDetails(gr, name), "%s %q already exists", gr, name)
}

// NewConflict reports that the object is not in the state that the request expects.
func NewConflict(gr GroupResource, name, why string) *Status {
	return newFailure(http.StatusConflict, ReasonConflict, newDetails(gr, name),
		"Operation cannot be fulfilled on %s %q: %s", gr, name, why)
}

// NewApplyConflict reports an apply that would change fields of other managers.
func NewApplyConflict(message string, causes []Cause) *Status {
	return newFailure(http.StatusConflict, ReasonConflict, &Details{Causes: causes}, "%s", message)
}

// NewInvalid combines the field errors of an object. The message contains each distinct error once.
func NewInvalid(gk GroupKind, name string, causes []Cause) *Status {
	var shown []string
	for _, c := range causes {
		text := c.Message
		if c.Field != "" {
			text = c.Field + ": " + text
		}
		if !slices.Contains(shown, text) {
			shown = append(shown, text)
		}
	}
	faults := strings.Join(shown, ", ")
	if len(shown) > 1 {
		faults = "[" + faults + "]"
	}
	details := &Details{Name: name, Group: gk.Group, Kind: gk.Kind, Causes: causes}
	return newFailure(http.StatusUnprocessableEntity, ReasonInvalid, details, "%s %q is invalid: %s", gk, name, faults)
}

// NewBadRequest reports a request that is invalid regardless of the current state.
func NewBadRequest(message string) *Status {
	return newFailure(http.StatusBadRequest, ReasonBadRequest, nil, "%s", message)
}

// NewForbidden reports that access is denied to an object or, if name is empty, to the resource.
func NewForbidden(gr GroupResource, name, why string) *Status {
	what := gr.String()
	if name != "" {
		what = fmt.Sprintf("%s %q", gr, name)
	}
	return newFailure(http.StatusForbidden, ReasonForbidden, newDetails(gr, name), "%s is forbidden: %s", what, why)
}

// NewNamespaceTerminating reports that an object cannot be created in a terminating namespace.
func NewNamespaceTerminating(gr GroupResource, key Key) *Status {
	s := NewForbidden(gr, key.Name, "unable to create new content in namespace "+key.Namespace+" because it is being terminated")
	s.Details.Causes = []Cause{{
		Type: CauseNamespaceTerminating, Field: "metadata.namespace", Message: "namespace " + key.Namespace + " is being terminated",
	}}
	return s
}

// NewMethodNotAllowed reports a verb that the resource does not support.
func NewMethodNotAllowed() *Status {
	return newFailure(http.StatusMethodNotAllowed, ReasonMethodNotAllowed, &Details{},
		"the server does not allow this method on the requested resource")
}

// NewExpired reports a resource version or continue token that is too old.
func NewExpired(message string) *Status {
	return newFailure(http.StatusGone, ReasonExpired, nil, "%s", message)
}

// NewTooManyRequests asks the client to retry after retryAfterSeconds.
func NewTooManyRequests(message string, retryAfterSeconds int) *Status {
	return newFailure(http.StatusTooManyRequests, ReasonTooManyRequests,
		&Details{RetryAfterSeconds: retryAfterSeconds}, "%s", message)
}

// NewTooLarge reports that a request, or its result, is too large.
func NewTooLarge(format string, args ...any) *Status {
	return newFailure(http.StatusRequestEntityTooLarge, ReasonRequestTooLarge, nil, "Request entity too large: "+format, args...)
}

// NewTimeout reports that a response did not arrive in time.
func NewTimeout(message string) *Status {
	return newFailure(http.StatusGatewayTimeout, ReasonTimeout, &Details{}, "Timeout: %s", message)
}

// NewTooLargeVersion reports a resource version that the store has not reached yet.
func NewTooLargeVersion(version, current uint64) *Status {
	s := NewTimeout(fmt.Sprintf("Too large resource version: %d, current: %d", version, current))
	s.Details.RetryAfterSeconds = 1
	s.Details.Causes = []Cause{{Type: CauseTooLarge, Message: "Too large resource version"}}
	return s
}

// NewServiceUnavailable reports that the server temporarily cannot serve the request.
func NewServiceUnavailable(message string) *Status {
	return newFailure(http.StatusServiceUnavailable, ReasonServiceUnavailable, nil, "%s", message)
}

// NewInternal reports an internal error without details. id identifies the server's log entry.
func NewInternal(id string) *Status {
	message := "Internal error occurred"
	if id != "" {
		message += ": the server's log has it under " + id
	}
	return newFailure(http.StatusInternalServerError, ReasonInternalError, nil, "%s", message)
}

// NewInternalCause reports an internal error whose cause clients may see.
func NewInternalCause(cause string) *Status {
	return newFailure(http.StatusInternalServerError, ReasonInternalError, &Details{Causes: []Cause{{Message: cause}}}, "Internal error occurred: %s", cause)
}

// NewStoreReadError reports a stored object that cannot be read.
func NewStoreReadError(gr GroupResource, name, why string) *Status {
	return newFailure(http.StatusInternalServerError, ReasonStorageRead, newDetails(gr, name), "%s %q: %s", gr, name, why)
}

// NewInsufficientStorage reports that there is no space to store the change.
func NewInsufficientStorage(message string) *Status {
	return newFailure(http.StatusInsufficientStorage, ReasonInsufficientStorage, nil, "%s", message)
}
