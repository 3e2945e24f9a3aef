package codec

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"
)

// protobufMagic begins every Protobuf body: Protobuf itself does not say what a message is, and the magic
// tells it from other formats.
var protobufMagic = []byte{0x6b, 0x38, 0x73, 0x00}

const errNoEnvelope = typeError("provided data does not appear to be a protobuf message, expected prefix 6b 38 73 00")

// An Envelope is what surrounds an object in Protobuf. It says the kind, so that a reader knows by which
// plan to decode the object.
//
// A Pod, as an example, in hexadecimal digits with its object left out:
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

// WrapEnvelope appends the envelope of an object, with the object in it.
func WrapEnvelope(b []byte, apiVersion, kind string, raw []byte) []byte {
	b = OpenEnvelope(b, apiVersion, kind, len(raw))
	b = append(b, raw...)
	return CloseEnvelope(b)
}

// OpenEnvelope appends what comes before an object of so many bytes in its envelope, and CloseEnvelope
// what comes after it. So a large object need not be copied into its envelope.
func OpenEnvelope(b []byte, apiVersion, kind string, size int) []byte {
	b = append(b, protobufMagic...)
	b, at := openWire(b, 1)
	b = appendStringField(b, 1, apiVersion)
	b = appendStringField(b, 2, kind)
	b = closeWire(b, at)
	b = appendTag(b, 2, protowire.BytesType)
	return protowire.AppendVarint(b, uint64(size))
}

// CloseEnvelope appends the end of an envelope. Its fields are written although they are empty, as other
// servers of this API do.
func CloseEnvelope(b []byte) []byte {
	b = appendStringField(b, 3, "")
	return appendStringField(b, 4, "")
}

// EnvelopedObject is the object in an envelope that WrapEnvelope has made, of which empty is the size without an object. It shares
// the memory of the envelope and does not read it: where it lies follows from the sizes alone. Of a long list that is a good part of
// the cost.
func EnvelopedObject(envelope []byte, empty int) []byte {
	end := len(envelope) - len(CloseEnvelope(make([]byte, 0, 8)))
	size := len(envelope) - empty // of the object, and of its length beyond one byte
	for extra := 0; ; extra++ {
		if protowire.SizeVarint(uint64(size-extra)) == 1+extra {
			return envelope[end-size+extra : end]
		}
	}
}

// UnwrapEnvelope reads an envelope. Raw shares the memory of body. The error may be shown to the client.
//
// Numbers above 4 are skipped, for later versions of the envelope; of a number that is there twice the last
// one counts, as in all of Protobuf.
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
