package negotiate

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/http/internal/requestinfo"
)

// prettyUserAgents are prefixes of clients whose output people read: browsers and command line
// tools.
var prettyUserAgents = [][]byte{[]byte("curl"), []byte("Wget"), []byte("Mozilla/5.0")}

// WantsPretty reports whether responses are indented: as the query says, or by client.
func WantsPretty(q requestinfo.Query, userAgent []byte) bool {
	if text := q.Get("pretty"); text != "" {
		pretty, err := strconv.ParseBool(text)
		return err == nil && pretty
	}
	for _, name := range prettyUserAgents {
		if bytes.HasPrefix(userAgent, name) {
			return true
		}
	}
	return false
}
