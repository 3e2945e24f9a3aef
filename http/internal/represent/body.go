package represent

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/codec"
)

// A Body is a response body in the negotiated encoding: the output of Write if Write is set, and
// otherwise Bytes followed by End. Size is the number of bytes that Write produces, or -1 if
// unknown. A body of unknown size is chunked.
type Body struct {
	ContentType string
	Bytes       []byte
	End         string
	Write       func(io.Writer) error
	Size        int
	Source      int    // bytes of JSON that Write converts
	Document    []byte // JSON document of the body, for the audit; nil for a list
}

func (b Body) WriteBytes(w io.Writer) error {
	if _, err := w.Write(b.Bytes); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.End)
	return err
}

// Document returns a JSON document as a body in JSON, YAML, or CBOR. doc may be shared and is not
// modified.
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

// Newline follows unindented JSON, as in kube-apiserver.
const Newline = "\n"
