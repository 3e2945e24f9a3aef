package http

import (
	"bytes"
	"encoding/json"
	"io"

	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/http/internal/negotiate"
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
	case x.format.Pretty && len(doc) > maxBufferedResponse:
		s.writeStream(x, negotiate.TypeJSON, &bodyStream{write: buffered(func(w io.Writer) error {
			_, err := (&indenter{to: w}).Write(doc)
			return err
		}), size: -1}, len(doc))
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
	if len(body) > maxBufferedResponse {
		x.reservation.Shrink(int64(len(body)) + responseOverhead)
		s.writeStream(x, contentType, &bodyStream{write: func(w io.Writer) error {
			_, err := w.Write(body)
			return err
		}, size: len(body)}, len(body))
		return
	}
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyRaw(body)
}
