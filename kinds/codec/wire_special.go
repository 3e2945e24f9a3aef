package codec

import (
	"encoding/base64"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
)

// wireNumber decodes a number or bool and returns its length, which is negative on error. It uses
// only the lower 32 bits of an int32, because negative numbers are encoded with 64 bits.
func wireNumber(t schema.Type, b []byte) (any, int) {
	if t == schema.TypeDouble {
		v, n := protowire.ConsumeFixed64(b)
		number := math.Float64frombits(v)
		if math.IsNaN(number) || math.IsInf(number, 0) {
			return nil, -1 // JSON cannot represent it
		}
		return number, n
	}
	v, n := protowire.ConsumeVarint(b)
	switch t {
	case schema.TypeBool:
		return v != 0, n
	case schema.TypeInt32:
		return int64(int32(v)), n
	}
	return int64(v), n
}

// special decodes a length-delimited value of a type with its own Protobuf format, such as a
// quantity (see the package comment).
func (d *wireDecoder) special(f *schema.Field, p []byte) (any, error) {
	switch f.Type {
	case schema.TypeString:
		return wireString(p), nil
	case schema.TypeBytes:
		return base64.StdEncoding.EncodeToString(p), nil
	case schema.TypeStrings:
		return wireStrings(p)
	}
	if f.Message != nil {
		return d.union(f.Message, p)
	}
	var parts [4]wireField
	if err := splitWire(p, &parts); err != nil {
		return nil, err
	}
	switch f.Type {
	case schema.TypeTime, schema.TypeMicroTime:
		return wireTime(f, len(p) == 0, int64(parts[1].number), int32(parts[2].number))
	case schema.TypeDuration:
		return time.Duration(parts[1].number).String(), nil
	case schema.TypeQuantity:
		return d.wireQuantity(wireString(parts[1].bytes)), nil
	case schema.TypeIntOrString:
		if parts[1].number != 0 {
			return wireString(parts[3].bytes), nil
		}
		return int64(int32(parts[2].number)), nil
	}
	if f.Type == schema.TypeFields {
		return wireFieldSet(parts[1].bytes, d.depth)
	}
	return d.wireRaw(parts[1].bytes)
}

// wireFieldSet decodes the JSON object of a field set. It returns nil for an empty field set.
func wireFieldSet(p []byte, depth int) (any, error) {
	if len(p) == 0 {
		return nil, nil
	}
	s := jsontext.Scanner{Text: wireString(p), Depth: depth}
	if s.Peek() != '{' {
		return nil, errProtobuf
	}
	if err := s.Skip(); err != nil {
		return nil, err
	}
	if err := s.End(); err != nil {
		return nil, err
	}
	return compactFieldSet(s.Text, depth)
}

func wireStrings(p []byte) (any, error) {
	var list []any
	for len(p) > 0 {
		number, t, n := protowire.ConsumeTag(p)
		if n < 0 {
			return nil, errProtobuf
		}
		size := protowire.ConsumeFieldValue(number, t, p[n:])
		if size < 0 {
			return nil, errProtobuf
		}
		if number == 1 && t == protowire.BytesType {
			text, _ := protowire.ConsumeBytes(p[n:])
			list = append(list, wireString(text))
		}
		p = p[n+size:]
	}
	if list == nil {
		return nil, nil
	}
	return list, nil
}

type wireField struct {
	number uint64
	bytes  []byte
}

// splitWire splits a message into its fields 1 to 3. The last duplicate of a field wins. Higher
// numbers and unexpected wire types are skipped.
func splitWire(p []byte, parts *[4]wireField) error {
	for len(p) > 0 {
		number, t, n := protowire.ConsumeTag(p)
		if n < 0 {
			return errProtobuf
		}
		size := protowire.ConsumeFieldValue(number, t, p[n:])
		if size < 0 {
			return errProtobuf
		}
		if number < 4 {
			part := &parts[number]
			switch t {
			case protowire.VarintType:
				part.number, _ = protowire.ConsumeVarint(p[n:])
			case protowire.BytesType:
				part.bytes, _ = protowire.ConsumeBytes(p[n:])
			}
		}
		p = p[n+size:]
	}
	return nil
}

// wireTime formats a time, or returns nil for the zero time. A message without fields is an absent
// time, whereas zero seconds is the Unix epoch.
func wireTime(f *schema.Field, empty bool, seconds int64, nanos int32) (any, error) {
	if empty {
		return nil, nil
	}
	at := time.Unix(seconds, int64(nanos)).UTC()
	if at.IsZero() {
		return nil, nil
	}
	if !isStorable(at) {
		return nil, typeError(f.Name + ": " + errYearRange)
	}
	if f.Type == schema.TypeTime {
		return at.Format(time.RFC3339), nil
	}
	return at.Format(microLayout), nil
}

func (d *wireDecoder) wireQuantity(s string) any {
	if s == "" {
		s = "0"
	}
	return d.quantity(s)
}

// wireRaw decodes the JSON of a raw field. It returns nil if the JSON is empty.
func (d *wireDecoder) wireRaw(p []byte) (any, error) {
	if len(p) == 0 {
		return nil, nil
	}
	v, faults, err := decodeAny(string(p), d.depth)
	if err != nil {
		return nil, err
	}
	if room := maxFaults - len(d.faults); len(faults) > room {
		faults = faults[:room]
	}
	d.faults = append(d.faults, faults...)
	return v, nil
}
