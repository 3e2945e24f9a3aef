package merge

import (
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
)

// newBadPatch is the error for a patch that is malformed, whatever the object.
func newBadPatch(format string, args ...any) error {
	return &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: fmt.Sprintf(format, args...)}
}

// newCannotApply is the error for a JSON patch that does not apply to this object. It begins with the
// words that clients look for, and tells what failed, but nothing of the object: who may patch need not be
// allowed to read.
func newCannotApply(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusUnprocessableEntity, Reason: meta.ReasonInvalid,
		Message: "the server rejected our request due to an error in our request: " + fmt.Sprintf(format, args...),
		Details: &meta.Details{},
	}
}

// newTooLarge is the error for a patch that asks for too much work or memory.
func newTooLarge(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusRequestEntityTooLarge, Reason: meta.ReasonRequestTooLarge,
		Message: "Request entity too large: " + fmt.Sprintf(format, args...),
	}
}
