package http

import (
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/response"
)

func (s *Server) writeDocument(x *requestContext, doc []byte) {
	s.writeBody(x, represent.Document(x.format, doc))
}

func (s *Server) writeRaw(x *requestContext, contentType string, body []byte) {
	s.writeBody(x, represent.Body{ContentType: contentType, Bytes: body})
}

// writeBody responds with a body. It streams a large body, so that the memory is released once the
// body has been written or the client has disconnected.
func (s *Server) writeBody(x *requestContext, b represent.Body) {
	if x.audit != nil && b.Document != nil {
		x.auditResponseDocument(b.Document)
	}
	switch {
	case b.Write != nil:
		s.writeStream(x, b.ContentType, &response.Stream{Write: b.Write, Size: b.Size}, b.Source)
	case len(b.Bytes) > response.MaxBuffered:
		x.permit.ReleaseBeyond(limits.ResponseBytes, int64(len(b.Bytes))+response.Overhead)
		s.writeStream(x, b.ContentType, &response.Stream{Write: b.WriteBytes, Size: len(b.Bytes) + len(b.End)}, len(b.Bytes))
	default:
		x.ctx.Response.Header.SetContentType(b.ContentType)
		x.ctx.Response.SetBodyRaw(b.Bytes)
		if b.End != "" {
			x.conn.EndWithNewline()
		}
	}
}

// writeStream responds with a streamed body of about sizeHint bytes, compressed if large. HTTP/1.0
// has no chunks, so a body of unknown size is first measured to set Content-Length.
func (s *Server) writeStream(x *requestContext, contentType string, a *response.Stream, sizeHint int) {
	if sizeHint >= response.MinGzipSize && s.acceptsGzip(x) {
		x.setHeader("Content-Encoding", "gzip")
		x.setHeader("Vary", "Accept-Encoding")
		a.Write, a.Size = response.Gzipped(a.Write), -1
	}
	if a.Size < 0 && !x.ctx.Request.Header.IsHTTP11() { // HTTP/1.0 has no chunks
		a.Size, _ = response.Measure(a.Write) // an error recurs when it is written
	}
	a.Grace = s.opts.Limits.WriteTimeout
	s.setBodyStream(x, contentType, a)
}

// maxSeatsOfStream is how long a response may hold its seats while it is written. Afterward, a slow
// client holds only the in-flight slot and the memory, and does not delay other clients.
const maxSeatsOfStream = time.Second

// setBodyStream responds with a streamed body. The permit moves from the request to the stream,
// which outlives the handler.
func (s *Server) setBodyStream(x *requestContext, contentType string, a *response.Stream) {
	x.permit.ReleaseBeyond(limits.Memory, 0)
	x.permit.LimitSeats(maxSeatsOfStream)
	a.Permit, x.permit = x.permit, limits.Permit{}
	a.Log, a.Path, a.ID = s.log, x.info.Path, x.auditID
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyStream(a, a.Size)
}

func (s *Server) acceptsGzip(x *requestContext) bool {
	return !s.opts.DisableCompression && x.ctx.Request.Header.HasAcceptEncoding("gzip")
}
