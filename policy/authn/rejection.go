package authn

import (
	"strconv"
	"strings"
)

// A RejectionError contains a remote service's reason for a rejection. Clients see only errors of
// this type.
type RejectionError struct{ Message string }

func (r *RejectionError) Error() string { return "refused: " + strconv.Quote(r.Message) }

// maxRejectionMessage is the maximum length of a message in bytes.
const maxRejectionMessage = 1024

// rejection returns a RejectionError with the text of a remote service. If the text is empty or
// contains the token, it returns ErrUnknownToken.
func rejection(text, token string) error {
	if text == "" || strings.Contains(text, token) {
		return ErrUnknownToken
	}
	return &RejectionError{strings.ToValidUTF8(text[:min(len(text), maxRejectionMessage)], "\uFFFD")}
}
