package merge

import (
	"fmt"
	"net/http"

	"github.com/troupe-api/troupe/kinds/meta"
)

// badPatch is the answer to a patch that means nothing on any object.
func badPatch(format string, args ...any) error {
	return &meta.Status{Code: http.StatusBadRequest, Reason: meta.ReasonBadRequest, Message: fmt.Sprintf(format, args...)}
}

// failed is the answer to a JSON patch that does not apply to this object. It begins with the words
// that users know, and tells what fails, but nothing of the object.
func failed(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusUnprocessableEntity, Reason: meta.ReasonInvalid,
		Message: "the server rejected our request due to an error in our request: " + fmt.Sprintf(format, args...),
		Details: &meta.Details{},
	}
}

// tooLarge is the answer to a patch that asks for too much work or memory.
func tooLarge(format string, args ...any) error {
	return &meta.Status{
		Code: http.StatusRequestEntityTooLarge, Reason: meta.ReasonRequestTooLarge,
		Message: "Request entity too large: " + fmt.Sprintf(format, args...),
	}
}
