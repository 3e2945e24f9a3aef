package represent

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/request"
)

// appendProtobuf appends a WatchEvent {1: type, 2: {1: object}}. Field 2 is a RawExtension, so the
// object is in a nested message. Computing the lengths first avoids copying the object twice.
func (e *Events) appendProtobuf(b []byte, ev *request.Event) ([]byte, error) {
	object, err := e.protobufObject(ev)
	if err != nil {
		return b, err
	}
	var space [envelopeSize]byte
	inner := protowire.AppendTag(space[:0], 1, protowire.BytesType)
	inner = protowire.AppendVarint(inner, uint64(len(object)))

	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendString(b, ev.Type.String())
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(inner)+len(object)))
	return append(append(b, inner...), object...), nil
}

func (e *Events) protobufObject(ev *request.Event) ([]byte, error) {
	if ev.Type == request.Error {
		t, err := e.encoder.protobufMeta("Status", "v1")
		if err != nil {
			return nil, err
		}
		return t.encode(eventStatus(ev).AppendJSON(nil))
	}
	t, err := e.encoder.protobufOf(e.kind, e.format)
	if err != nil {
		return nil, err
	}
	if ev.Type == request.Bookmark {
		return t.encode(e.appendBookmark(nil, ev))
	}
	return e.encoder.protobufForm(t, e.format, ev.Object)
}
