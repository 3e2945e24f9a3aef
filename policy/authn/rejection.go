package authn

import (
	"strconv"
	"strings"
)

// A RejectionError is an error whose text is meant for the client: why a remote does not let it in.
// No other error of this package is shown to clients.
type RejectionError struct{ Message string }

func (r *RejectionError) Error() string { return "refused: " + strconv.Quote(r.Message) }

// maxRejectionMessage bounds the text of a RejectionError, in bytes.
const maxRejectionMessage = 1024

// rejection is the refusal of a token with a remote's text; ErrUnknownToken if it has none to
// show. A text that holds the token is not shown.
func rejection(text, token string) error {
	if text == "" || strings.Contains(text, token) {
		return ErrUnknownToken
	}
	return &RejectionError{strings.ToValidUTF8(text[:min(len(text), maxRejectionMessage)], "\uFFFD")}
}
