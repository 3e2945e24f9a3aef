package http

import (
	"cmp"
	"io"

	"github.com/troupe-api/troupe/http/internal/response"
)

const typeBytes = "application/octet-stream"

// An ExtraRoute is a further fixed path. A GET of it is authorized like any path that is no
// resource. Its answer is what Write writes, and goes out meanwhile; an error is logged and cuts
// the answer.
type ExtraRoute struct {
	ContentType string // "" is application/octet-stream
	Write       func(io.Writer) error
}

// serveExtraRoute answers one of Options.ExtraRoutes. The body goes out while it is made, so its
// error comes too late for a Status: the answer is cut before its last chunk, which
// clients tell from a whole one.
func (s *Server) serveExtraRoute(path string, e ExtraRoute) func(*requestContext) error {
	contentType := cmp.Or(e.ContentType, typeBytes)
	return func(x *requestContext) error {
		x.setHeader("X-Content-Type-Options", "nosniff")
		s.setBodyStream(x, contentType, &response.Stream{Write: response.Buffered(e.Write), Size: -1})
		return nil
	}
}
