package represent

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/codec"
)

// A Body is an answer in the encoding that was negotiated. Bytes are all of it, unless Write is there,
// which writes it piece by piece: Size bytes, or -1 where that is not known. A known size becomes
// Content-Length; without one the answer is chunked. End follows Bytes: stored objects have no newline.
type Body struct {
	ContentType string
	Bytes       []byte
	End         string
	Write       func(io.Writer) error
	Size        int
	Source      int    // bytes of JSON that Write makes the body of
	Document    []byte // the JSON document in the body, for the audit; nil for a list
}

// WriteBytes writes Bytes and End.
func (b Body) WriteBytes(w io.Writer) error {
	if _, err := w.Write(b.Bytes); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.End)
	return err
}

// Document is the body of a JSON document as YAML, as CBOR, or as JSON. The document may be shared: it is only read.
func Document(f negotiate.Format, doc []byte) Body {
	body := Body{ContentType: negotiate.TypeJSON, Document: doc}
	switch {
	case f.Encoding == negotiate.CBOR:
		item, err := codec.AppendCBOR(nil, nil, doc)
		if err != nil {
			panic(err)
		}
		body.ContentType, body.Bytes = negotiate.TypeCBOR, item
	case f.Encoding == negotiate.YAML:
		text, err := codec.YAML(doc)
		if err != nil {
			panic(err)
		}
		body.ContentType, body.Bytes = negotiate.TypeYAML, text
	case f.Pretty && len(doc) > response.MaxBuffered:
		body.Size, body.Source, body.Write = -1, len(doc), response.Buffered(func(w io.Writer) error {
			_, err := response.NewIndenter(w).Write(doc)
			return err
		})
	case f.Pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, doc, "", "  "); err != nil {
			panic(err)
		}
		body.Bytes = b.Bytes()
	default:
		body.Bytes, body.End = doc, Newline
	}
	return body
}

// Newline ends JSON that is not indented, as other servers of this API write it.
const Newline = "\n"
