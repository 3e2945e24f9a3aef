package authn

import (
	"strconv"
	"strings"
)

// A RejectionError contains a remote service's rejection message. Clients see the text of no other
// error type.
type RejectionError struct{ Message string }

func (r *RejectionError) Error() string { return "refused: " + strconv.Quote(r.Message) }

// maxRejectionMessage is the maximum length of a message in bytes.
const maxRejectionMessage = 1024

// rejection returns a RejectionError with a remote service's message, or ErrUnknownToken if the
// message is empty or contains the token.
func rejection(text, token string) error {
	if text == "" || strings.Contains(text, token) {
		return ErrUnknownToken
	}
	return &RejectionError{strings.ToValidUTF8(text[:min(len(text), maxRejectionMessage)], "\uFFFD")}
}
