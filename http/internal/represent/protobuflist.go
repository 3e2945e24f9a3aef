package represent

import (
	"bytes"
	"io"

	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/table"
	"google.golang.org/protobuf/encoding/protowire"
)

// A protobufList is a list in a Protobuf envelope. The envelope begins with the length of its
// content, so the items are encoded twice: first to measure the content, then to send it.
type protobufList struct {
	list        *List
	item        protobufType
	listType    protobufType // without message: written in pieces
	payloadSize int          // bytes in the envelope
}

// protobuf returns the body of a list as Protobuf. A small list is built in memory. A larger list
// is encoded twice, to save memory.
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

func (p *protobufList) size() int {
	return len(codec.OpenEnvelope(nil, p.listType.apiVersion, p.listType.kind, p.payloadSize)) + p.payloadSize + len(codec.CloseEnvelope(nil))
}

// items writes the content of the envelope. In all lists of the API, field 1 is the metadata and
// field 2 an item.
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
		// b holds only the tag and length, so that the item is written without copying.
		b = protowire.AppendTag(b[:0], 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(item)))
		if _, err := w.Write(b); err != nil {
			return err
		}
		_, err = w.Write(item)
		return err
	})
}

// appendListMeta appends selfLink, resourceVersion, continue, and remainingItemCount. The first
// three are written even if empty, as in kube-apiserver.
func appendListMeta(b []byte, l table.ListMeta) []byte {
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
