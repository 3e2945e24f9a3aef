package http

import (
	"cmp"
	"context"
	"io"

	"github.com/troupe-api/troupe/http/internal/response"
)

const typeBytes = "application/octet-stream"

// An ExtraRoute is an additional fixed path for either GET, if Write is set, or POST, if Do is set.
// Requests are authorized like those for any non-resource path.
type ExtraRoute struct {
	// Write streams the response to a GET. An error is logged and truncates the response.
	Write       func(io.Writer) error
	ContentType string // of Write; "": application/octet-stream
	// Do handles a POST and returns a JSON document. If the error is a *meta.Status, it is the
	// response.
	Do func(context.Context) ([]byte, error)
}

func (s *Server) doExtraRoute(e ExtraRoute) func(*requestContext) error {
	return func(x *requestContext) error {
		document, err := e.Do(x.deadlineCtx)
		if err == nil {
			s.writeDocument(x, document)
		}
		return err
	}
}

// serveExtraRoute streams the response. If Write fails after the response has begun, it is too late
// for a Status. The response then ends without its last chunk, so that clients detect the error.
func (s *Server) serveExtraRoute(e ExtraRoute) func(*requestContext) error {
	contentType := cmp.Or(e.ContentType, typeBytes)
	return func(x *requestContext) error {
		x.setHeader("X-Content-Type-Options", "nosniff")
		s.setBodyStream(x, contentType, &response.Stream{Write: response.Buffered(e.Write), Size: -1})
		return nil
	}
}
