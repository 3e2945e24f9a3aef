package codec

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// protobufMagic begins every Protobuf body, because Protobuf has no recognizable prefix.
var protobufMagic = []byte{0x6b, 0x38, 0x73, 0x00}

const errNoEnvelope = typeError("provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00")

// An Envelope wraps an object in Protobuf and names its kind, which selects the plan for decoding.
// The envelope of a Pod in hexadecimal, without the object:
//
//	6b387300                    the magic
//	0a09 0a027631 1203506f64    1: typeMeta with "v1" and "Pod"
//	12…                         2: length and bytes of the object
//	1a00 2200                   3 and 4: encoding and media type, both empty
type Envelope struct {
	APIVersion, Kind             string
	Raw                          []byte // the object
	ContentEncoding, ContentType string // "" for plain Protobuf
}

// WrapEnvelope appends an envelope around the encoded object raw.
func WrapEnvelope(b []byte, apiVersion, kind string, raw []byte) []byte {
	b = OpenEnvelope(b, apiVersion, kind, len(raw))
	b = append(b, raw...)
	return CloseEnvelope(b)
}

// OpenEnvelope appends the beginning of an envelope for an object of size bytes. The caller then
// appends the object, without an intermediate copy, and calls CloseEnvelope.
func OpenEnvelope(b []byte, apiVersion, kind string, size int) []byte {
	b = append(b, protobufMagic...)
	b, at := openWire(b, 1)
	b = appendStringField(b, 1, apiVersion)
	b = appendStringField(b, 2, kind)
	b = closeWire(b, at)
	b = appendTag(b, 2, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(size))
}

// CloseEnvelope appends the end of an envelope: an empty contentEncoding and contentType, as in
// kube-apiserver.
func CloseEnvelope(b []byte) []byte {
	b = appendStringField(b, 3, "")
	return appendStringField(b, 4, "")
}

// EnvelopedObject returns the object in an envelope created by WrapEnvelope, sharing its memory.
// empty is the envelope's size without the object. Computing the object's position is cheaper than
// parsing each envelope of a long list.
func EnvelopedObject(envelope []byte, empty int) []byte {
	end := len(envelope) - len(CloseEnvelope(make([]byte, 0, 8)))
	size := len(envelope) - empty // the object, plus the extra bytes of its length
	for extra := 0; ; extra++ {
		if protowire.SizeVarint(uint64(size-extra)) == 1+extra {
			return envelope[end-size+extra : end]
		}
	}
}

// UnwrapEnvelope parses an envelope. Raw shares the memory of body, and the error may be shown to
// clients. It skips unknown fields for compatibility with later versions. The last duplicate of a
// field wins.
func UnwrapEnvelope(body []byte) (Envelope, error) {
	rest, ok := bytes.CutPrefix(body, protobufMagic)
	if !ok {
		return Envelope{}, errNoEnvelope
	}
	var e Envelope
	for len(rest) > 0 {
		number, t, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return Envelope{}, errProtobuf
		}
		if number > 4 {
			size := protowire.ConsumeFieldValue(number, t, rest[n:])
			if size < 0 {
				return Envelope{}, errProtobuf
			}
			rest = rest[n+size:]
			continue
		}
		p, n, err := payload("Unknown", t, rest, n)
		if err != nil {
			return Envelope{}, err
		}
		switch number {
		case 1:
			var parts [4]wireField
			if err := splitWire(p, &parts); err != nil {
				return Envelope{}, err
			}
			e.APIVersion, e.Kind = string(parts[1].bytes), string(parts[2].bytes)
		case 2:
			e.Raw = p
		case 3:
			e.ContentEncoding = string(p)
		case 4:
			e.ContentType = string(p)
		}
		rest = rest[n:]
	}
	return e, nil
}
