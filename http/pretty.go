package http

import (
	"bytes"
	"strconv"
)

// prettyUserAgents are the beginnings of the names of clients behind which somebody reads.
var prettyUserAgents = [][]byte{[]byte("curl"), []byte("Wget"), []byte("Mozilla/5.0")}

// wantsPretty tells whether answers are laid out to be read: as the query says, else by whether
// the client is one of those that people look at.
func (x *requestContext) wantsPretty() bool {
	if text := x.query.Get("pretty"); text != "" {
		pretty, err := strconv.ParseBool(text)
		return err == nil && pretty
	}
	agent := x.ctx.UserAgent()
	for _, name := range prettyUserAgents {
		if bytes.HasPrefix(agent, name) {
			return true
		}
	}
	return false
}
