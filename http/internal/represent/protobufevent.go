package represent

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/request"
)

// appendProtobuf appends an event: WatchEvent {1: type, 2: {1: object}}. Field 2 is a RawExtension, hence
// the object within a message of its own. Its lengths are known before it is written, so it is copied once.
func (e *Events) appendProtobuf(b []byte, ev *request.Event) ([]byte, error) {
	t, raw, err := e.protobufObject(ev)
	if err != nil {
		return b, err
	}
	var openSpace, closeSpace, tagSpace [envelopeSize]byte
	head := codec.OpenEnvelope(openSpace[:0], t.apiVersion, t.kind, len(raw))
	tail := codec.CloseEnvelope(closeSpace[:0])
	object := len(head) + len(raw) + len(tail)
	inner := protowire.AppendTag(tagSpace[:0], 1, protowire.BytesType)
	inner = protowire.AppendVarint(inner, uint64(object))

	b = protowire.AppendTag(b, 1, protowire.BytesType)
	b = protowire.AppendString(b, ev.Type.String())
	b = protowire.AppendTag(b, 2, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(len(inner)+object))
	b = append(append(b, inner...), head...)
	return append(append(b, raw...), tail...), nil
}

// protobufObject is the object of an event, without its envelope.
func (e *Events) protobufObject(ev *request.Event) (t protobufType, raw []byte, err error) {
	if ev.Type == request.Error {
		if t, err = e.encoder.protobufMeta("Status", "v1"); err == nil {
			raw, err = t.encode(eventStatus(ev).AppendJSON(nil))
		}
		return t, raw, err
	}
	if t, err = e.encoder.protobufOf(e.kind, e.format); err != nil {
		return t, nil, err
	}
	if ev.Type == request.Bookmark {
		raw, err = t.encode(e.appendBookmark(nil, ev))
		return t, raw, err
	}
	raw, err = e.encoder.protobufForm(t, e.format, ev.Object)
	return t, raw, err
}
