package http

import (
	"bytes"
	"strconv"
)

// prettyUserAgents are the beginnings of the names of clients whose output people read: browsers and
// command line tools.
var prettyUserAgents = [][]byte{[]byte("curl"), []byte("Wget"), []byte("Mozilla/5.0")}

// wantsPretty tells whether answers are indented: as the query says, else if the client is one whose
// output people read.
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
