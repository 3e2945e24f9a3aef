package meta

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// AsStatus finds the Status in err. An error that holds none is an internal one; its text is not shown to
// clients.
func AsStatus(err error) *Status {
	var s *Status
	if errors.As(err, &s) {
		return s
	}
	return NewInternal("")
}

func newFailure(code int, reason Reason, details *Details, format string, args ...any) *Status {
	return &Status{Code: code, Reason: reason, Details: details, Message: fmt.Sprintf(format, args...)}
}

// newDetails are the details of a Status about one object, or about a whole resource.
func newDetails(gr GroupResource, name string) *Details {
	return &Details{Name: name, Group: gr.Group, Kind: gr.Resource}
}

// NewNotFound says that there is no such object.
func NewNotFound(gr GroupResource, name string) *Status {
	return newFailure(http.StatusNotFound, ReasonNotFound, newDetails(gr, name), "%s %q not found", gr, name)
}

// NewAlreadyExists says that the name is taken.
func NewAlreadyExists(gr GroupResource, name string) *Status {
	return newFailure(http.StatusConflict, ReasonAlreadyExists, newDetails(gr, name), "%s %q already exists", gr, name)
}

// NewConflict says that the object is not, or no longer, as the request presumes.
func NewConflict(gr GroupResource, name, why string) *Status {
	return newFailure(http.StatusConflict, ReasonConflict, newDetails(gr, name),
		"Operation cannot be fulfilled on %s %q: %s", gr, name, why)
}

// NewApplyConflict says which fields an apply would take from other managers.
func NewApplyConflict(message string, causes []Cause) *Status {
	return newFailure(http.StatusConflict, ReasonConflict, &Details{Causes: causes}, "%s", message)
}

// NewInvalid collects the faults of an object. Its message has each of them once.
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

// NewBadRequest says that the request makes no sense, whatever the state.
func NewBadRequest(message string) *Status {
	return newFailure(http.StatusBadRequest, ReasonBadRequest, nil, "%s", message)
}

// NewForbidden refuses an action on an object, or on the whole resource if name is "".
func NewForbidden(gr GroupResource, name, why string) *Status {
	what := gr.String()
	if name != "" {
		what = fmt.Sprintf("%s %q", gr, name)
	}
	return newFailure(http.StatusForbidden, ReasonForbidden, newDetails(gr, name), "%s is forbidden: %s", what, why)
}

// NewNamespaceTerminating refuses to create something of an object, or the object itself, in a namespace that is being
// deleted.
func NewNamespaceTerminating(gr GroupResource, key Key) *Status {
	s := NewForbidden(gr, key.Name, "unable to create new content in namespace "+key.Namespace+" because it is being terminated")
	s.Details.Causes = []Cause{{
		Type: CauseNamespaceTerminating, Field: "metadata.namespace", Message: "namespace " + key.Namespace + " is being terminated",
	}}
	return s
}

// NewMethodNotAllowed refuses a verb that the resource does not have.
func NewMethodNotAllowed() *Status {
	return newFailure(http.StatusMethodNotAllowed, ReasonMethodNotAllowed, &Details{},
		"the server does not allow this method on the requested resource")
}

// NewExpired says that a version, or a continue token, is too old.
func NewExpired(message string) *Status {
	return newFailure(http.StatusGone, ReasonExpired, nil, "%s", message)
}

// NewTooManyRequests asks to come back after some seconds.
func NewTooManyRequests(message string, retryAfterSeconds int) *Status {
	return newFailure(http.StatusTooManyRequests, ReasonTooManyRequests,
		&Details{RetryAfterSeconds: retryAfterSeconds}, "%s", message)
}

// NewTooLarge refuses a request, or its result, for its size.
func NewTooLarge(format string, args ...any) *Status {
	return newFailure(http.StatusRequestEntityTooLarge, ReasonRequestTooLarge, nil, "Request entity too large: "+format, args...)
}

// NewTimeout says that an answer did not come in time.
func NewTimeout(message string) *Status {
	return newFailure(http.StatusGatewayTimeout, ReasonTimeout, &Details{}, "Timeout: %s", message)
}

// NewTooLargeVersion says that the store has not reached a version yet.
func NewTooLargeVersion(version, current uint64) *Status {
	s := NewTimeout(fmt.Sprintf("Too large resource version: %d, current: %d", version, current))
	s.Details.RetryAfterSeconds = 1
	s.Details.Causes = []Cause{{Type: CauseTooLarge, Message: "Too large resource version"}}
	return s
}

// NewServiceUnavailable says that the server cannot serve the request for now.
func NewServiceUnavailable(message string) *Status {
	return newFailure(http.StatusServiceUnavailable, ReasonServiceUnavailable, nil, "%s", message)
}

// NewInternal hides an internal fault from the client. id is what the log has it under.
func NewInternal(id string) *Status {
	message := "Internal error occurred"
	if id != "" {
		message += ": the server's log has it under " + id
	}
	return newFailure(http.StatusInternalServerError, ReasonInternalError, nil, "%s", message)
}

// NewStoreReadError says that what is stored under a name cannot be read.
func NewStoreReadError(gr GroupResource, name, why string) *Status {
	return newFailure(http.StatusInternalServerError, ReasonStorageRead, newDetails(gr, name), "%s %q: %s", gr, name, why)
}

// NewInsufficientStorage says that there is no space to store the change.
func NewInsufficientStorage(message string) *Status {
	return newFailure(http.StatusInsufficientStorage, ReasonInsufficientStorage, nil, "%s", message)
}
