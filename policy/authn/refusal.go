package authn

import (
	"strconv"
	"strings"
)

// A Refusal is an error whose text is meant for the client: why a remote does not let it in.
// No other error of this package is shown to clients.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return "authn: refused: " + strconv.Quote(r.Message) }

// maxRefusal bounds the text of a Refusal, in bytes.
const maxRefusal = 1024

// refuse is the refusal of a token with a remote's text; ErrUnknownToken if it has none to
// show. A text that holds the token is not shown to anybody.
func refuse(text, token string) error {
	if text == "" || strings.Contains(text, token) {
		return ErrUnknownToken
	}
	return &Refusal{strings.ToValidUTF8(text[:min(len(text), maxRefusal)], "\uFFFD")}
}
