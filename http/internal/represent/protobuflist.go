package represent

import (
	"bytes"
	"io"

	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"google.golang.org/protobuf/encoding/protowire"
)

// A protobufList is a list on its way to a client in an envelope of Protobuf. The length of all
// that is inside comes first, so the items are gone over twice: to be measured, and to be sent. The
// field numbers of every list are 1 for its metadata and 2 for its items.
type protobufList struct {
	list        *List
	item        protobufType
	listType    protobufType // without a message: it is written piece by piece
	payloadSize int          // bytes in the envelope
}

// protobuf is the body of a list in Protobuf, of so many bytes of objects. A small list is made
// once and held; for a larger one the time of a second pass is the price of bounded memory.
func (l *List) protobuf(all int) (Body, error) {
	b := Body{ContentType: l.encoder.Names.ProtobufType, Source: all}
	item, err := l.encoder.protobufOf(l.kind, l.format)
	if err != nil {
		return b, err
	}
	p := &protobufList{list: l, item: item, listType: protobufType{apiVersion: item.apiVersion, kind: item.kind + "List"}}
	if !l.Reshaped() {
		p.listType.kind = l.kind.ListKind()
	}
	if all <= response.MaxBuffered {
		var items bytes.Buffer
		if err := p.items(&items); err != nil {
			return b, err
		}
		b.Bytes = p.listType.wrap(items.Bytes())
		return b, nil
	}
	if p.payloadSize, err = response.Measure(p.items); err != nil {
		return b, err
	}
	b.Write, b.Size = response.Buffered(p.write), p.size()
	return b, nil
}

// write writes the list in its envelope.
func (p *protobufList) write(w io.Writer) error {
	if _, err := w.Write(codec.OpenEnvelope(nil, p.listType.apiVersion, p.listType.kind, p.payloadSize)); err != nil {
		return err
	}
	if err := p.items(w); err != nil {
		return err
	}
	_, err := w.Write(codec.CloseEnvelope(nil))
	return err
}

// size is known before the first item is written, since an envelope begins with the length of what it holds.
// It is in bytes, and that of the whole answer: envelope, payload and end.
func (p *protobufList) size() int {
	return len(codec.OpenEnvelope(nil, p.listType.apiVersion, p.listType.kind, p.payloadSize)) + p.payloadSize + len(codec.CloseEnvelope(nil))
}

// items writes what is in the envelope.
// Field 1 is the metadata of the list, field 2 an item; all lists of the API have these numbers.
func (p *protobufList) items(w io.Writer) error {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, appendListMeta(nil, p.list.meta))
	if _, err := w.Write(b); err != nil {
		return err
	}
	empty := len(p.item.wrap(nil))
	return p.list.eachObject(func(o *meta.Object) error {
		form, err := p.list.encoder.protobufForm(p.item, p.list.format, o)
		if err != nil {
			return err
		}
		item := codec.EnvelopedObject(form, empty)
		// b holds the tag and the length of one item, and is used again for the next; the item itself is not copied into it.
		b = protowire.AppendTag(b[:0], 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(item)))
		if _, err := w.Write(b); err != nil {
			return err
		}
		_, err = w.Write(item)
		return err
	})
}

// appendListMeta writes selfLink, resourceVersion, continue and remainingItemCount. The first three are
// written even if empty, as other servers of this API do.
func appendListMeta(b []byte, l present.ListMeta) []byte {
	for i, text := range []string{"", l.ResourceVersion, l.Continue} {
		b = protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType)
		b = protowire.AppendString(b, text)
	}
	if l.Remaining > 0 {
		b = protowire.AppendTag(b, 4, protowire.VarintType)
		b = protowire.AppendVarint(b, uint64(l.Remaining))
	}
	return b
}
