package http

import (
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/represent"
	"github.com/troupe-api/troupe/http/internal/response"
)

// writeDocument answers a JSON document in the encoding that was negotiated. The document
// may be shared: it is only read.
func (s *Server) writeDocument(x *requestContext, doc []byte) {
	s.writeBody(x, represent.Document(x.format, doc))
}

// writeRaw answers bytes as they are.
func (s *Server) writeRaw(x *requestContext, contentType string, body []byte) {
	s.writeBody(x, represent.Body{ContentType: contentType, Bytes: body})
}

// writeBody answers with a body.
//
// A large one goes out as a stream, because the memory that it holds can then be given back when it is written or
// the client is gone, and not when the connection is used again.
func (s *Server) writeBody(x *requestContext, b represent.Body) {
	if x.audit != nil && b.Document != nil {
		x.auditResponseDocument(b.Document)
	}
	switch {
	case b.Write != nil:
		s.writeStream(x, b.ContentType, &response.Stream{Write: b.Write, Size: b.Size}, b.Source)
	case len(b.Bytes) > response.MaxBuffered:
		x.permit.Shrink(int64(len(b.Bytes)) + response.Overhead)
		s.writeStream(x, b.ContentType, &response.Stream{Write: b.WriteBytes, Size: len(b.Bytes) + len(b.End)}, len(b.Bytes))
	default:
		x.ctx.Response.Header.SetContentType(b.ContentType)
		x.ctx.Response.SetBodyRaw(b.Bytes)
		if b.End != "" {
			x.conn.EndWithNewline()
		}
	}
}

// writeStream answers with a body that writes itself. sizeHint is its size, as far as it is known.
//
// Nothing is compressed below a size where it would not pay. To HTTP/1.0 a body of unknown length is written twice,
// the first time only to be counted: there is no other way to tell a whole one from one that was cut.
func (s *Server) writeStream(x *requestContext, contentType string, a *response.Stream, sizeHint int) {
	if sizeHint >= response.MinGzipSize && s.acceptsGzip(x) {
		x.setHeader("Content-Encoding", "gzip")
		x.setHeader("Vary", "Accept-Encoding")
		a.Write, a.Size = response.Gzipped(a.Write), -1
	}
	if a.Size < 0 && !x.ctx.Request.Header.IsHTTP11() { // HTTP/1.0 has no chunks
		a.Size, _ = response.Measure(a.Write) // an error will come again when it is written
	}
	a.Grace = s.opts.Limits.WriteTimeout
	s.setBodyStream(x, contentType, a)
}

// maxSeatsOfStream is how long an answer occupies its seats while it is written. A client that takes longer has only the
// slot and the memory: its pace is not the work of the server, and others are not to wait for it.
const maxSeatsOfStream = time.Second

// setBodyStream answers with a body that writes itself, as it is and however long that takes.
//
// The permit moves from the request to the stream, which is written after the handler has returned.
func (s *Server) setBodyStream(x *requestContext, contentType string, a *response.Stream) {
	x.permit.LimitSeats(maxSeatsOfStream)
	a.Permit, x.permit = x.permit, limits.Permit{}
	a.Log, a.Path, a.ID = s.log, x.info.Path, x.auditID
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyStream(a, a.Size)
}

// acceptsGzip tells whether an answer may be compressed.
func (s *Server) acceptsGzip(x *requestContext) bool {
	return !s.opts.DisableCompression && x.ctx.Request.Header.HasAcceptEncoding("gzip")
}
