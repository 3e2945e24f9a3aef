package http

import (
	"bytes"
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
)

// writeBody answers a JSON document in the encoding that was negotiated. The document
// may be shared: it is only read.
func (s *Server) writeBody(x *requestContext, doc []byte) {
	x.auditResponseDocument(doc)
	switch {
	case x.format.Encoding == negotiate.YAML:
		text, err := yaml.JSONToYAML(doc)
		if err != nil {
			panic(err)
		}
		s.writeRaw(x, negotiate.TypeYAML, text)
	case x.format.Pretty && len(doc) > response.MaxBuffered:
		s.writeStream(x, negotiate.TypeJSON, &response.Stream{Write: response.Buffered(func(w io.Writer) error {
			_, err := response.NewIndenter(w).Write(doc)
			return err
		}), Size: -1}, len(doc))
	case x.format.Pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, doc, "", "  "); err != nil {
			panic(err)
		}
		s.writeRaw(x, negotiate.TypeJSON, b.Bytes())
	default:
		s.writeRaw(x, negotiate.TypeJSON, doc)
	}
}

// writeRaw answers bytes as they are.
func (s *Server) writeRaw(x *requestContext, contentType string, body []byte) {
	if len(body) > response.MaxBuffered {
		x.permit.Shrink(int64(len(body)) + response.Overhead)
		s.writeStream(x, contentType, &response.Stream{Write: func(w io.Writer) error {
			_, err := w.Write(body)
			return err
		}, Size: len(body)}, len(body))
		return
	}
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyRaw(body)
}

// writeStream answers with a body that writes itself. sizeHint is its size, as far as it is known.
func (s *Server) writeStream(x *requestContext, contentType string, a *response.Stream, sizeHint int) {
	if sizeHint >= response.MinGzipSize && x.acceptsGzip() {
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

// setBodyStream answers with a body that writes itself, as it is and however long that takes.
func (s *Server) setBodyStream(x *requestContext, contentType string, a *response.Stream) {
	a.Permit, x.permit = x.permit, limits.Permit{}
	a.Log, a.Path, a.ID = s.log, x.info.Path, x.auditID
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyStream(a, a.Size)
}

func (x *requestContext) acceptsGzip() bool {
	return x.ctx.Request.Header.HasAcceptEncoding("gzip")
}
