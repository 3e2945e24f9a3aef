package http

import (
	"encoding/binary"
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/present"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"google.golang.org/protobuf/encoding/protowire"
)

// protobufRaw is the Protobuf message of a JSON document of message m.
func protobufRaw(m *schema.Message, doc []byte) ([]byte, error) {
	tree, _, err := codec.DecodeJSON(m, doc)
	if err != nil {
		return nil, fmt.Errorf("http: stored JSON of %s: %w", m.Name, err)
	}
	return codec.EncodeProtobuf(nil, m, tree), nil
}

// protobufDoc is a JSON document of message m as an enveloped Protobuf message.
func protobufDoc(m *schema.Message, apiVersion, kind string, doc []byte) ([]byte, error) {
	raw, err := protobufRaw(m, doc)
	if err != nil {
		return nil, err
	}
	return codec.WrapEnvelope(nil, apiVersion, kind, raw), nil
}

func (s *Server) protobufObject(k *schema.Kind, obj *meta.Object) ([]byte, error) {
	return protobufDoc(k.Message, k.APIVersion(), k.Kind, obj.JSON)
}

// protobufMeta is a document of one of the generic messages, named as in "Status".
func (s *Server) protobufMeta(name, apiVersion string, doc []byte) ([]byte, error) {
	m := s.opts.Catalog.Message("meta.v1." + name)
	if m == nil {
		return nil, fmt.Errorf("http: message %s is not declared", name)
	}
	return protobufDoc(m, apiVersion, name, doc)
}

// protobufPartial is PartialObjectMetadata, or a list of it.
func (s *Server) protobufPartial(f format, doc []byte) ([]byte, error) {
	name := "PartialObjectMetadata"
	if f.shape == shapePartialList {
		name = "PartialObjectMetadataList"
	}
	return s.protobufMeta(name, s.names.metaGroup+"/"+f.version, doc)
}

// protobufList is a list of whole objects: the field numbers of every list are 1 for its
// metadata and 2 for its items.
func (s *Server) protobufList(k *schema.Kind, l present.ListMeta, items []*meta.Object) ([]byte, error) {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendBytes(b, appendListMeta(nil, l))
	for _, o := range items {
		raw, err := protobufRaw(k.Message, o.JSON)
		if err != nil {
			return nil, err
		}
		b = protowire.AppendTag(b, 2, protowire.BytesType)
		b = protowire.AppendBytes(b, raw)
	}
	return codec.WrapEnvelope(nil, k.APIVersion(), k.Kind+"List", b), nil
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

// decodeProtobuf reads the body of a create or an update. What the envelope says about
// the object is checked like the fields of a JSON body.
func (s *Server) decodeProtobuf(k *schema.Kind, body []byte) (schema.Tree, []codec.FieldFault, error) {
	e, err := codec.UnwrapEnvelope(body)
	if err != nil {
		return nil, nil, err
	}
	tree, faults, err := codec.DecodeProtobuf(k.Message, e.Raw)
	if err != nil {
		return nil, nil, err
	}
	tree["kind"], tree["apiVersion"] = e.Kind, e.APIVersion
	return tree, faults, nil
}

// eventLength is the number of bytes in which an event's length is written before it.
const eventLength = 4

// appendProtobuf appends an event: its length, then WatchEvent {1: type, 2: {1: object}}.
func (e *eventEncoder) appendProtobuf(ev *request.Event) error {
	object, err := e.protobufObject(ev)
	if err != nil {
		return err
	}
	raw := protowire.AppendTag(nil, 1, protowire.BytesType)
	raw = protowire.AppendBytes(raw, object)
	at := len(e.buf)
	e.buf = append(e.buf, make([]byte, eventLength)...)
	e.buf = protowire.AppendTag(e.buf, 1, protowire.BytesType)
	e.buf = protowire.AppendString(e.buf, ev.Type.String())
	e.buf = protowire.AppendTag(e.buf, 2, protowire.BytesType)
	e.buf = protowire.AppendBytes(e.buf, raw)
	binary.BigEndian.PutUint32(e.buf[at:], uint32(len(e.buf)-at-eventLength))
	return nil
}

// protobufObject is the object of an event, enveloped.
func (e *eventEncoder) protobufObject(ev *request.Event) ([]byte, error) {
	doc := e.appendObject(nil, ev)
	switch {
	case ev.Type == request.Error:
		return e.server.protobufMeta("Status", "v1", doc)
	case e.format.shape == shapePartial:
		return e.server.protobufPartial(e.format, doc)
	}
	return protobufDoc(e.kind.Message, e.kind.APIVersion(), e.kind.Kind, doc)
}
