package codec

import (
	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// DecodeJSON reads an object of message m. The faults are the unknown and duplicate
// fields, also beside an error of type. The error is that of malformed JSON or of the first
// value of a wrong type; its text may be shown to the client.
//
// A Deployment as an example:
//
//	{"spec":{"replicas":1,"foo":2}}  a tree without foo, and the fault unknown field "spec.foo"
//	{"spec":{"replicas":"1"}}        json: cannot unmarshal string into Go struct field
//	                                 DeploymentSpec.spec.replicas of type int32
//	{"spec":                         unexpected end of JSON input
//
// data is copied once, and the strings of the tree are parts of the copy; the caller may use data again.
func DecodeJSON(m *schema.Message, data []byte) (tree.Tree, []FieldFault, error) {
	return decodeJSON(m, data, false)
}

// decodeJSON is DecodeJSON; with nulls, fields that are null stay in the tree.
func decodeJSON(m *schema.Message, data []byte, nulls bool) (tree.Tree, []FieldFault, error) {
	d := newDecoder(jsontext.Over(append(passing(len(data)), data...)).Text)
	d.keepNulls = nulls
	object, faults, err := d.root(m)
	if err == nil && m.Custom != nil {
		object, faults, err = pruneUnknown(m, object, faults, nulls)
	}
	return object, faults, err
}

// DecodeStored reads an object of message m from stored JSON, which never changes: the strings of the tree
// share its memory. Faults are dropped: a field may have been removed from the plan since.
//
// The limits are those of stored objects: a deeper nesting, and any number of messages. An object that an
// earlier release has accepted must stay readable.
func DecodeStored(m *schema.Message, json []byte) (tree.Tree, error) {
	d := newDecoder(jsontext.Over(json).Text)
	d.Limit = jsontext.MaxStoredDepth
	object, _, err := d.root(m)
	return object, err
}

// root reads the whole text, and releases the decoder.
//
// An error of type is returned only if the whole text is JSON; a text that is malformed further down is
// reported as that.
func (d *decoder) root(m *schema.Message) (tree.Tree, []FieldFault, error) {
	defer d.release()
	object, err := d.document(m)
	switch {
	case err != nil:
		return nil, nil, err
	case d.pathTracker.err != nil:
		return nil, d.faults, d.pathTracker.err
	}
	return object, d.faults, nil
}

// DecodeAny reads JSON that has no plan, such as a patch. Integers that fit stay int64.
//
// An integer beyond int64 becomes a float64; a number beyond float64, such as 1e400, is an error.
func DecodeAny(data []byte) (any, []FieldFault, error) { return decodeAny(string(data), 0) }

// DecodeAnyStored is DecodeAny for JSON that the server has encoded itself and that never changes.
func DecodeAnyStored(json []byte) (any, error) {
	d := newDecoder(jsontext.Over(json).Text)
	d.Limit = jsontext.MaxStoredDepth
	v, _, err := d.anyDocument()
	return v, err
}

// decodeAny is DecodeAny for a text that is a value of a larger body, so many levels deep in it.
//
// So JSON inside a Protobuf field nests no deeper than the same value in a JSON body may.
func decodeAny(text string, depth int) (any, []FieldFault, error) {
	d := newDecoder(text)
	d.Depth = depth
	return d.anyDocument()
}

// anyDocument reads the whole text, and releases the decoder.
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
