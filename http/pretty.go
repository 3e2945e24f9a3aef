package http

import (
	"bytes"
	"strconv"
)

// people are the beginnings of the names of clients behind which somebody reads.
var people = [][]byte{[]byte("curl"), []byte("Wget"), []byte("Mozilla/5.0")}

// pretty tells whether answers are laid out to be read: as the query says, else by whether
// the client is one of those that people look at.
func (x *exchange) pretty() bool {
	if text := x.query.get("pretty"); text != "" {
		pretty, err := strconv.ParseBool(text)
		return err == nil && pretty
	}
	agent := x.ctx.UserAgent()
	for _, name := range people {
		if bytes.HasPrefix(agent, name) {
			return true
		}
	}
	return false
}
