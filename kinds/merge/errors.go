package merge

import (
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
)

// newBadPatch is the answer to a patch that means nothing on any object.
func newBadPatch(format string, args ...any) error {
	return &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: fmt.Sprintf(format, args...)}
}

// newCannotApply is the answer to a JSON patch that does not apply to this object. It begins with the words
// that users know, and tells what fails, but nothing of the object.
func newCannotApply(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusUnprocessableEntity, Reason: meta.ReasonInvalid,
		Message: "the server rejected our request due to an error in our request: " + fmt.Sprintf(format, args...),
		Details: &meta.Details{},
	}
}

// newTooLarge is the answer to a patch that asks for too much work or memory.
func newTooLarge(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusRequestEntityTooLarge, Reason: meta.ReasonRequestTooLarge,
		Message: "Request entity too large: " + fmt.Sprintf(format, args...),
	}
}
