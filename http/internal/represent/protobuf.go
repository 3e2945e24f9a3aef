package represent

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/http/internal/negotiate"
	"github.com/troupe-api/troupe/http/internal/wire"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

type protobufType struct {
	message          *schema.Message
	apiVersion, kind string
}

const envelopeSize = 64

func (e *Encoder) protobufOf(k *schema.Kind, f negotiate.Format) (protobufType, error) {
	if f.Shape == negotiate.Whole {
		return protobufType{k.Message(), k.APIVersion(), k.Kind}, nil
	}
	return e.protobufMeta("PartialObjectMetadata", e.Names.MetaGroup+"/"+f.Version)
}

// protobufMeta returns a generic message such as "Status". All naming profiles share the messages
// of meta.v1.
func (e *Encoder) protobufMeta(name, apiVersion string) (protobufType, error) {
	m := e.Catalog.Message("meta.v1." + name)
	if m == nil {
		return protobufType{}, fmt.Errorf("message %s is not declared", name)
	}
	return protobufType{m, apiVersion, name}, nil
}

// encode encodes JSON as a message in its envelope. Errors are internal, because this server
// wrote the JSON.
func (t protobufType) encode(doc []byte) ([]byte, error) {
	buf := wire.GetBuffer()
	defer wire.PutBuffer(buf)
	var err error
	if *buf, err = codec.AppendProtobuf(*buf, t.message, doc); err != nil {
		return nil, fmt.Errorf("stored JSON of %s: %w", t.message.Name, err)
	}
	return t.wrap(*buf), nil
}

// wrap returns a message in its envelope. The result may be cached, so it has no spare capacity.
func (t protobufType) wrap(raw []byte) []byte {
	var head, tail [envelopeSize]byte
	return slices.Concat(codec.OpenEnvelope(head[:0], t.apiVersion, t.kind, len(raw)), raw, codec.CloseEnvelope(tail[:0]))
}

// protobufForm returns an object in its envelope, from the cache if possible. List items use the
// same form without the envelope (codec.EnvelopedObject).
func (e *Encoder) protobufForm(t protobufType, f negotiate.Format, o *meta.Object) ([]byte, error) {
	id, _ := formID(f)
	return e.Forms.get(o, id, func(o *meta.Object) ([]byte, error) {
		if f.Shape == negotiate.Whole {
			return t.encode(o.JSON)
		}
		doc := wire.GetBuffer()
		defer wire.PutBuffer(doc)
		*doc = e.appendPartial(*doc, f, o)
		return t.encode(*doc)
	})
}

func (e *Encoder) protobufObject(k *schema.Kind, f negotiate.Format, o *meta.Object) ([]byte, error) {
	t, err := e.protobufOf(k, f)
	if err != nil {
		return nil, err
	}
	return e.protobufForm(t, f, o)
}

// Meta returns a Protobuf body for the JSON document of a generic message, such as "Status".
func (e *Encoder) Meta(kind, apiVersion string, doc []byte) (Body, error) {
	t, err := e.protobufMeta(kind, apiVersion)
	if err != nil {
		return Body{}, err
	}
	message, err := t.encode(doc)
	return Body{ContentType: e.Names.ProtobufType, Bytes: message, Document: doc}, err
}
