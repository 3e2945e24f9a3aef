package requestbody

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func (d Decoder) unwrapEnvelope(body []byte) (codec.Envelope, error) {
	e, err := codec.UnwrapEnvelope(body)
	switch {
	case err != nil:
	case e.ContentEncoding != "":
		err = fmt.Errorf("the content encoding %q of the enveloped object is not supported", e.ContentEncoding)
	case e.ContentType != "" && e.ContentType != d.Names.ProtobufType:
		err = fmt.Errorf("the content type %q of the enveloped object is not supported", e.ContentType)
	}
	return e, err
}

// protobufObject decodes the body of a create or update. The caller checks the envelope's kind.
func (d Decoder) protobufObject(k *schema.Kind, body []byte) (tree.Tree, []codec.FieldFault, error) {
	e, err := d.unwrapEnvelope(body)
	if err != nil {
		return nil, nil, err
	}
	object, faults, err := codec.DecodeProtobuf(k.Message(), e.Raw)
	if err != nil {
		return nil, nil, err
	}
	object["kind"], object["apiVersion"] = e.Kind, e.APIVersion
	return object, faults, nil
}

// protobufOptions decodes options. It does not check the kind in the envelope.
func (d Decoder) protobufOptions(m *schema.Message, body []byte) (tree.Tree, error) {
	e, err := d.unwrapEnvelope(body)
	if err != nil {
		return nil, err
	}
	object, _, err := codec.DecodeProtobuf(m, e.Raw)
	if err == nil {
		object["kind"] = e.Kind
	}
	return object, err
}
