package http

import (
	"cmp"
	"context"
	"io"

	"github.com/troupe-api/troupe/http/internal/response"
)

const typeBytes = "application/octet-stream"

// An ExtraRoute is a further fixed path, which is authorized like any path that is no resource: either something to read or
// something to do.
type ExtraRoute struct {
	// Write writes the answer to a GET, which goes out meanwhile; an error is logged and cuts the answer.
	Write       func(io.Writer) error
	ContentType string // of what Write writes; "" is application/octet-stream
	// Do does what a POST asks for, and answers a document. An error that is a Status is the answer.
	Do func(context.Context) ([]byte, error)
}

// doExtraRoute answers a POST of one of Options.ExtraRoutes.
func (s *Server) doExtraRoute(e ExtraRoute) func(*requestContext) error {
	return func(x *requestContext) error {
		document, err := e.Do(x.deadlineCtx)
		if err == nil {
			s.writeDocument(x, document)
		}
		return err
	}
}

// serveExtraRoute answers one of Options.ExtraRoutes. The body goes out while it is made, so its
// error comes too late for a Status: the answer is cut before its last chunk, which
// clients tell from a whole one.
func (s *Server) serveExtraRoute(e ExtraRoute) func(*requestContext) error {
	contentType := cmp.Or(e.ContentType, typeBytes)
	return func(x *requestContext) error {
		x.setHeader("X-Content-Type-Options", "nosniff")
		s.setBodyStream(x, contentType, &response.Stream{Write: response.Buffered(e.Write), Size: -1})
		return nil
	}
}
