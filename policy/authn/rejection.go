package authn

import (
	"strconv"
	"strings"
)

// A RejectionError contains the message with which a remote service rejected a token. It is the
// only error whose text is shown to clients.
type RejectionError struct{ Message string }

func (r *RejectionError) Error() string { return "refused: " + strconv.Quote(r.Message) }

// maxRejectionMessage is the maximum length of a message in bytes.
const maxRejectionMessage = 1024

func rejection(text, token string) error {
	if text == "" || strings.Contains(text, token) {
		return ErrUnknownToken
	}
	return &RejectionError{strings.ToValidUTF8(text[:min(len(text), maxRejectionMessage)], "\uFFFD")}
}
