package merge

import (
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
)

func newBadPatch(format string, args ...any) error {
	return &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: fmt.Sprintf(format, args...)}
}

// newCannotApply returns the error for a JSON patch that does not apply to this object. Clients
// search for the first words of the message. It reveals nothing about the object, because the user
// may be allowed to patch but not to read it.
func newCannotApply(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusUnprocessableEntity, Reason: meta.ReasonInvalid,
		Message: "the server rejected our request due to an error in our request: " + fmt.Sprintf(format, args...),
		Details: &meta.Details{},
	}
}

func newTooLarge(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusRequestEntityTooLarge, Reason: meta.ReasonRequestTooLarge,
		Message: "Request entity too large: " + fmt.Sprintf(format, args...),
	}
}
