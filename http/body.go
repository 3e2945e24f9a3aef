package http

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/klauspost/compress/gzip"
	"sigs.k8s.io/yaml"
)

// gzipFrom is the size, in bytes, from which answers are compressed for clients that
// accept it.
const gzipFrom = 128 << 10

// writeBody answers a JSON document in the encoding that was negotiated. The document
// may be shared: it is only read.
func (s *Server) writeBody(x *exchange, doc []byte) {
	x.answersDocument(doc)
	switch {
	case x.format.media == mediaYAML:
		text, err := yaml.JSONToYAML(doc)
		if err != nil {
			panic(err)
		}
		s.writeRaw(x, typeYAML, text)
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
func (s *Server) writeRaw(x *exchange, contentType string, body []byte) {
	if len(body) >= gzipFrom && x.wantsGzip() {
		s.stream(x, contentType, &pieces{body}, len(body))
		return
	}
	x.ctx.Response.Header.SetContentType(contentType)
	x.ctx.Response.SetBodyRaw(body)
}

func (x *exchange) wantsGzip() bool {
	return x.ctx.Request.Header.HasAcceptEncoding("gzip")
}

// stream answers what body writes, size bytes, without putting it together first.
func (s *Server) stream(x *exchange, contentType string, body io.WriterTo, size int) {
	x.ctx.Response.Header.SetContentType(contentType)
	if size < gzipFrom || !x.wantsGzip() {
		x.ctx.Response.SetBodyStream(writerBody{body}, size)
		return
	}
	x.header("Content-Encoding", "gzip")
	x.header("Vary", "Accept-Encoding")
	r, w := io.Pipe()
	go compress(w, body)
	x.ctx.Response.SetBodyStream(r, -1)
}

// compress feeds body into w; it ends when body is written or the reader is closed.
func compress(w *io.PipeWriter, body io.WriterTo) {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err == nil {
		_, err = body.WriteTo(z)
	}
	if err == nil {
		err = z.Close()
	}
	w.CloseWithError(err)
}

// A writerBody is a body that writes itself; fasthttp never reads it.
type writerBody struct{ io.WriterTo }

func (writerBody) SupportsBodyWriteTo() bool { return true }

// Read is not called.
func (writerBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// pieces are written one after another.
type pieces [][]byte

// WriteTo writes them and keeps them.
func (p *pieces) WriteTo(w io.Writer) (n int64, err error) {
	for _, b := range *p {
		m, err := w.Write(b)
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}
