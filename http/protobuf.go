package http

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// protobufRaw is the Protobuf message of a JSON document of message m.
func protobufRaw(m *schema.Message, doc []byte) ([]byte, error) {
	tree, err := codec.DecodeStored(m, doc)
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

// protobufPartial is PartialObjectMetadata.
func (s *Server) protobufPartial(f negotiate.Format, doc []byte) ([]byte, error) {
	return s.protobufMeta("PartialObjectMetadata", s.names.MetaGroup+"/"+f.Version, doc)
}

// unwrapEnvelope takes a Protobuf body apart. An object in another encoding than Protobuf is refused.
func (s *Server) unwrapEnvelope(body []byte) (codec.Envelope, error) {
	e, err := codec.UnwrapEnvelope(body)
	switch {
	case err != nil:
	case e.ContentEncoding != "":
		err = fmt.Errorf("the content encoding %q of the enveloped object is not supported", e.ContentEncoding)
	case e.ContentType != "" && e.ContentType != s.names.ProtobufType:
		err = fmt.Errorf("the content type %q of the enveloped object is not supported", e.ContentType)
	}
	return e, err
}

// decodeProtobuf reads the body of a create or an update. What the envelope says about
// the object is checked like the fields of a JSON body.
func (s *Server) decodeProtobuf(k *schema.Kind, body []byte) (tree.Tree, []codec.FieldFault, error) {
	e, err := s.unwrapEnvelope(body)
	if err != nil {
		return nil, nil, err
	}
	object, faults, err := codec.DecodeProtobuf(k.Message, e.Raw)
	if err != nil {
		return nil, nil, err
	}
	object["kind"], object["apiVersion"] = e.Kind, e.APIVersion
	return object, faults, nil
}

// appendProtobuf appends an event: WatchEvent {1: type, 2: {1: object}}.
func (e *eventEncoder) appendProtobuf(b []byte, ev *request.Event) ([]byte, error) {
	object, err := e.protobufObject(ev)
	if err != nil {
		return b, err
	}
	raw := protowire.AppendTag(nil, 1, protowire.BytesType)
	raw = protowire.AppendBytes(raw, object)
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendString(b, ev.Type.String())
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	return protowire.AppendBytes(b, raw), nil
}

// protobufObject is the object of an event, enveloped.
func (e *eventEncoder) protobufObject(ev *request.Event) ([]byte, error) {
	doc := e.appendObject(nil, ev)
	switch {
	case ev.Type == request.Error:
		return e.server.protobufMeta("Status", "v1", doc)
	case e.format.Shape == negotiate.Partial:
		return e.server.protobufPartial(e.format, doc)
	}
	return protobufDoc(e.kind.Message, e.kind.APIVersion(), e.kind.Kind, doc)
}
