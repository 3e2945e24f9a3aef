package http

import (
	"bytes"
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"
)

// writeBody answers a JSON document in the encoding that was negotiated. The document
// may be shared: it is only read.
func (s *Server) writeBody(x *requestContext, doc []byte) {
	x.auditResponseDocument(doc)
	switch {
	case x.format.media == mediaYAML:
		text, err := yaml.JSONToYAML(doc)
		if err != nil {
			panic(err)
		}
		s.writeRaw(x, typeYAML, text)
	case x.format.pretty && len(doc) > maxBufferedResponse:
		s.writeStream(x, typeJSON, &bodyStream{write: buffered(func(w io.Writer) error {
			_, err := (&indenter{to: w}).Write(doc)
			return err
		}), size: -1}, len(doc))
	case x.format.pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, doc, "", "  "); err != nil {
			panic(err)
		}
		s.writeRaw(x, typeJSON, b.Bytes())
	default:
		s.writeRaw(x, typeJSON, doc)
	}
}

// writeRaw answers bytes as they are.
func (s *Server) writeRaw(x *requestContext, contentType string, body []byte) {
	if len(body) > maxBufferedResponse {
		x.reservation.shrink(int64(len(body)) + responseOverhead)
		s.writeStream(x, contentType, &bodyStream{write: func(w io.Writer) error {
			_, err := w.Write(body)
			return err
		}, size: len(body)}, len(body))
		return
	}
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyRaw(body)
}
