package http

import (
	"bytes"
	"fmt"
	"io"

	"github.com/troupe-api/troupe/http/internal/response"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/schema"
	"google.golang.org/protobuf/encoding/protowire"
)

// A protobufList is a list on its way to a client in an envelope of Protobuf. The length of all
// that is inside comes first, so every item is made twice: to be measured, and to be sent. The
// field numbers of every list are 1 for its metadata and 2 for its items.
type protobufList struct {
	list             *listBody
	item             *schema.Message
	apiVersion, kind string
	payloadSize      int // bytes in the envelope
}

// streamProtobuf answers a list as Protobuf.
func (s *Server) streamProtobuf(x *requestContext, l *listBody, all int) error {
	p := &protobufList{list: l, item: l.kind.Message, apiVersion: l.kind.APIVersion(), kind: l.kind.ListKind()}
	if l.appendItem != nil {
		const name = "PartialObjectMetadata"
		p.apiVersion, p.kind = s.names.MetaGroup+"/"+x.format.Version, name+"List"
		if p.item = s.opts.Catalog.Message("meta.v1." + name); p.item == nil {
			return fmt.Errorf("http: message %s is not declared", name)
		}
	}
	if all <= response.MaxBuffered {
		var b bytes.Buffer
		if err := p.items(&b); err != nil {
			return err
		}
		s.writeRaw(x, s.names.ProtobufType, codec.WrapEnvelope(nil, p.apiVersion, p.kind, b.Bytes()))
		return nil
	}
	var err error
	if p.payloadSize, err = response.Measure(p.items); err != nil {
		return err
	}
	s.writeStream(x, s.names.ProtobufType, &response.Stream{Write: response.Buffered(p.write), Size: p.size()}, all)
	return nil
}

// write writes the list in its envelope.
func (p *protobufList) write(w io.Writer) error {
	if _, err := w.Write(codec.OpenEnvelope(nil, p.apiVersion, p.kind, p.payloadSize)); err != nil {
		return err
	}
	if err := p.items(w); err != nil {
		return err
	}
	_, err := w.Write(codec.CloseEnvelope(nil))
	return err
}

func (p *protobufList) size() int {
	return len(codec.OpenEnvelope(nil, p.apiVersion, p.kind, p.payloadSize)) + p.payloadSize + len(codec.CloseEnvelope(nil))
}

// items writes what is in the envelope.
func (p *protobufList) items(w io.Writer) error {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, appendListMeta(nil, p.list.meta))
	if _, err := w.Write(b); err != nil {
		return err
	}
	encoded := wire.GetBuffer()
	defer wire.PutBuffer(encoded)
	return p.list.eachConverted(func(_ int, o *meta.Object) error {
		doc := o.JSON
		if p.list.appendItem != nil {
			doc = p.list.appendItem(nil, o)
		}
		tree, err := codec.DecodeStored(p.item, doc)
		if err != nil {
			return fmt.Errorf("http: stored JSON of %s: %w", p.item.Name, err)
		}
		*encoded = codec.EncodeProtobuf((*encoded)[:0], p.item, tree)
		b = protowire.AppendTag(b[:0], 2, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(*encoded)))
		if _, err := w.Write(b); err != nil {
			return err
		}
		_, err = w.Write(*encoded)
		return err
	})
}

// appendListMeta writes selfLink, resourceVersion, continue and remainingItemCount.
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
