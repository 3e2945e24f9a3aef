package negotiate

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/http/internal/requestinfo"
)

// prettyUserAgents lists User-Agent prefixes of browsers and command-line tools, whose users read
// the output.
var prettyUserAgents = [][]byte{[]byte("curl"), []byte("Wget"), []byte("Mozilla/5.0")}

// WantsPretty reports whether the response should be indented. The pretty query parameter takes
// precedence over the User-Agent.
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
