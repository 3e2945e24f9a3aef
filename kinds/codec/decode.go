package codec

import (
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DecodeJSON decodes an object of message m. It returns unknown and duplicate fields as faults,
// even if a value has the wrong type. An error reports malformed JSON or the first value of a
// wrong type. Its message may be shown to clients.
//
// For a Deployment:
//
//	{"spec":{"replicas":1,"foo":2}}  a tree without foo, and the fault unknown field "spec.foo"
//	{"spec":{"replicas":"1"}}        json: cannot unmarshal string into Go struct field
//	                                 DeploymentSpec.spec.replicas of type int32
//	{"spec":                         unexpected end of JSON input
//
// The strings of the tree share one copy of data, so the caller may reuse data.
func DecodeJSON(m *schema.Message, data []byte) (tree.Tree, []FieldFault, error) {
	return decodeJSON(m, data, false)
}

func decodeJSON(m *schema.Message, data []byte, nulls bool) (tree.Tree, []FieldFault, error) {
	d := newDecoder(jsontext.Over(append(newTransientBuffer(len(data)), data...)).Text)
	d.keepNulls = nulls
	object, faults, err := d.root(m)
	if err == nil && m.Custom != nil {
		object, faults, err = pruneUnknown(m, object, faults, nulls)
	}
	return object, faults, err
}

// DecodeStored decodes an object of message m from stored JSON. The strings of the tree share the
// memory of json, which must never change. Unknown fields are ignored, because the kind may have
// lost fields since then.
//
// Stored objects may nest deeper than new ones and have any number of messages, because earlier
// releases accepted them.
func DecodeStored(m *schema.Message, json []byte) (tree.Tree, error) {
	d := newDecoder(jsontext.Over(json).Text)
	d.Limit = jsontext.MaxStoredDepth
	object, _, err := d.root(m)
	return object, err
}

// root decodes the whole document and releases the decoder. Malformed JSON takes precedence over an
// earlier value of a wrong type.
func (d *decoder) root(m *schema.Message) (tree.Tree, []FieldFault, error) {
	defer d.release()
	var object tree.Tree
	var err error
	switch {
	case d.Peek() != '{': // is checked for malformed JSON
		kind := typeOfByte(d.Current())
		if err = d.Skip(); err == nil {
			d.mismatch(kind, messageType(m))
		}
	case m.Custom != nil:
		object, err = d.custom(m)
	default:
		object, err = d.message(m)
	}
	if err == nil {
		err = d.End()
	}
	if err != nil {
		return nil, nil, err
	}
	if d.pathTracker.err != nil {
		return nil, d.faults, d.pathTracker.err
	}
	return object, d.faults, nil
}

// DecodeAny decodes JSON of unknown type, such as a patch. Integers are int64 if they fit and
// float64 otherwise. A number beyond the range of float64, such as 1e400, is an error.
func DecodeAny(data []byte) (any, []FieldFault, error) { return decodeAny(string(data), 0) }

// DecodeAnyStored is DecodeAny for JSON that the server has encoded. The result shares the memory
// of json, which must never change.
func DecodeAnyStored(json []byte) (any, error) {
	d := newDecoder(jsontext.Over(json).Text)
	d.Limit = jsontext.MaxStoredDepth
	v, _, err := d.anyDocument()
	return v, err
}

// decodeAny decodes JSON that is nested at the given depth in a larger body, such as JSON in a
// Protobuf field. The depth limit applies to the whole body.
func decodeAny(text string, depth int) (any, []FieldFault, error) {
	d := newDecoder(text)
	d.Depth = depth
	return d.anyDocument()
}

func (d *decoder) anyDocument() (any, []FieldFault, error) {
	defer d.release()
	v, err := d.any()
	if err == nil {
		err = d.End()
	}
	if err == nil {
		err = d.pathTracker.err
	}
	if err != nil {
		return nil, nil, err
	}
	return v, d.faults, nil
}
