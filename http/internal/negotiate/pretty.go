package negotiate

import (
	"bytes"
	"strconv"

	"github.com/troupe-api/troupe/http/internal/requestinfo"
)

// prettyUserAgents lists prefixes of the User-Agent of browsers and command line tools, whose
// output people read.
var prettyUserAgents = [][]byte{[]byte("curl"), []byte("Wget"), []byte("Mozilla/5.0")}

// WantsPretty reports whether the response should be indented. The query parameter pretty takes
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
