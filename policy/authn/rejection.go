package authn

import (
	"strconv"
	"strings"
)

// A RejectionError carries the reason of a remote for a rejection, to be shown to the client. Other
// errors of this package are not shown to clients.
type RejectionError struct{ Message string }

func (r *RejectionError) Error() string { return "refused: " + strconv.Quote(r.Message) }

// maxRejectionMessage limits the text of a RejectionError, in bytes.
const maxRejectionMessage = 1024

// rejection returns the rejection of a token with a remote's text, or ErrUnknownToken if the text
// is empty or contains the token.
func rejection(text, token string) error {
	if text == "" || strings.Contains(text, token) {
		return ErrUnknownToken
	}
	return &RejectionError{strings.ToValidUTF8(text[:min(len(text), maxRejectionMessage)], "\uFFFD")}
}
