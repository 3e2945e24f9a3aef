package represent

import (
	"bytes"
	"io"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// cbor writes the list as CBOR. Map entries are sorted by key, so the items precede the metadata.
func (l *List) cbor(w io.Writer) error {
	before, after, err := codec.SplitCBORList(append(bytes.Clone(l.head), listEnd...), l.field, len(l.items))
	if err != nil {
		return err
	}
	if _, err := w.Write(before); err != nil {
		return err
	}
	var m *schema.Message
	if !l.Reshaped() {
		m = l.kind.Message()
	}
	encoded := wire.GetBuffer()
	defer wire.PutBuffer(encoded)
	if err := l.each(func(item []byte) error {
		if *encoded, err = codec.AppendCBORItem((*encoded)[:0], m, item); err != nil {
			return err
		}
		_, err := w.Write(*encoded)
		return err
	}); err != nil {
		return err
	}
	_, err = w.Write(after)
	return err
}

// appendCBOR appends a watch event as a CBOR map with type and object. The map and the object each
// begin with the self-described CBOR tag.
func (e *Events) appendCBOR(b []byte, ev *request.Event) ([]byte, error) {
	b = codec.AppendCBOREvent(b, ev.Type.String())
	if ev.Type == request.Error || ev.Type == request.Bookmark || e.format.Shape == negotiate.Table {
		return codec.AppendCBOR(b, nil, e.appendObject(nil, ev))
	}
	object, err := e.encoder.cborForm(e.kind, e.format, ev.Object)
	return append(b, object...), err
}

func (e *Encoder) cborForm(k *schema.Kind, f negotiate.Format, o *meta.Object) ([]byte, error) {
	id, _ := formID(f)
	return e.Forms.get(o, id, func(o *meta.Object) ([]byte, error) {
		if f.Shape == negotiate.Whole {
			return codec.AppendCBOR(nil, k.Message(), o.JSON)
		}
		return codec.AppendCBOR(nil, nil, e.appendPartial(nil, f, o))
	})
}
