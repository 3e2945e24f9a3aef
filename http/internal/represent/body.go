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
}

// Document is the body of a JSON document as YAML, as CBOR, or as JSON. The document may be shared: it is only read.
func Document(f negotiate.Format, doc []byte) Body {
	switch {
	case f.Encoding == negotiate.CBOR:
		item, err := codec.AppendCBOR(nil, nil, doc)
		if err != nil {
			panic(err)
		}
		return Body{ContentType: negotiate.TypeCBOR, Bytes: item}
	case f.Encoding == negotiate.YAML:
		text, err := codec.YAML(doc)
		if err != nil {
			panic(err)
		}
		return Body{ContentType: negotiate.TypeYAML, Bytes: text}
	case f.Pretty && len(doc) > response.MaxBuffered:
		return Body{ContentType: negotiate.TypeJSON, Size: -1, Write: response.Buffered(func(w io.Writer) error {
			_, err := response.NewIndenter(w).Write(doc)
			return err
		})}
	case f.Pretty:
		var b bytes.Buffer
		if err := json.Indent(&b, doc, "", "  "); err != nil {
			panic(err)
		}
		return Body{ContentType: negotiate.TypeJSON, Bytes: b.Bytes()}
	}
	return Body{ContentType: negotiate.TypeJSON, Bytes: doc, End: newline}
}

// newline ends JSON that is not indented, as other servers of this API write it.
const newline = "\n"
