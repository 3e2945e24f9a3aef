package codec

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The tree contains scalars in a normal form, regardless of the input format:
//
//	bytes          base64 of the standard alphabet, padded, in one line
//	time           2030-01-02T03:04:05Z: UTC, truncated to whole seconds
//	time (micro)   2030-01-02T03:04:05.000000Z
//	quantity       the canonical form: 500m for 0.5, 1Mi for 1024Ki
//	duration       as Go writes it: 1h30m0s for 90m
//	int-or-string  an int64 in the range of int32, or a string
//
// Equal values are equal strings, so that field selectors and no-op writes can compare them without
// knowing their types.

const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// fromString returns the tree value of a string for field f. If the string is invalid, it records
// the error and returns nil.
func (t *pathTracker) fromString(f *schema.Field, s string) any {
	switch f.Type {
	case schema.TypeString, schema.TypeIntOrString, schema.TypeRaw:
		return s
	case schema.TypeBytes:
		return t.bytes(s)
	case schema.TypeTime:
		return t.time(s)
	case schema.TypeMicroTime:
		return t.microTime(s)
	case schema.TypeQuantity:
		return t.quantity(s)
	case schema.TypeDuration:
		return t.duration(s)
	}
	t.mismatch("string", elementType(f))
	return nil
}

func (t *pathTracker) fromNumber(f *schema.Field, literal string) any {
	switch f.Type {
	case schema.TypeInt32, schema.TypeIntOrString:
		return t.integer(f, literal, 32)
	case schema.TypeInt64:
		return t.integer(f, literal, 64)
	case schema.TypeDouble:
		return t.double(literal)
	case schema.TypeQuantity:
		return t.quantity(literal)
	case schema.TypeRaw:
		return t.anyNumber(literal)
	}
	t.mismatch("number "+literal, elementType(f))
	return nil
}

// fromBool parses the boolean of a quantity field as a quantity, because this yields
// kube-apiserver's error message.
func (t *pathTracker) fromBool(f *schema.Field, b bool) any {
	switch f.Type {
	case schema.TypeBool, schema.TypeRaw:
		return b
	case schema.TypeQuantity:
		return t.quantity(strconv.FormatBool(b))
	}
	t.mismatch("bool", elementType(f))
	return nil
}

// strings returns a list of strings. It records an error and returns nil for other values and for
// null elements.
func (t *pathTracker) strings(v any) any {
	list, ok := v.([]any)
	if !ok {
		if v != nil {
			t.mismatchOf(v, "[]string")
		}
		return nil
	}
	for i, item := range list {
		if _, ok := item.(string); !ok {
			t.pushIndex(i)
			t.mismatchOf(item, "string")
			t.pop()
			return nil
		}
	}
	return v
}

func (t *pathTracker) integer(f *schema.Field, literal string, bits int) any {
	n, err := strconv.ParseInt(literal, 10, bits)
	if err != nil {
		t.mismatch("number "+literal, elementType(f))
		return nil
	}
	return n
}

func (t *pathTracker) double(literal string) any {
	n, err := strconv.ParseFloat(literal, 64)
	if err != nil {
		t.mismatch("number "+literal, "float64")
		return nil
	}
	return n
}

// anyNumber parses a number, as int64 if possible, because float64 would change large integers.
func (t *pathTracker) anyNumber(literal string) any {
	if n, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return n
	}
	if n, ok := t.double(literal).(float64); ok {
		return asReadBack(n)
	}
	return nil
}

// asReadBack returns the value of n after encoding and decoding. For example, 5.0, 1e2 and -0.0
// become integers. Otherwise, the stored number would change when a client writes back an
// unmodified object.
func asReadBack(n float64) any {
	if n != math.Trunc(n) || math.Abs(n) >= 1<<63 {
		return n
	}
	i, err := strconv.ParseInt(string(appendFloat(nil, n)), 10, 64)
	if err != nil {
		return n
	}
	return i
}

// bytes returns s as canonical base64, so that equal bytes have equal encodings. Like Go's decoder,
// which kube-apiserver uses, it accepts line breaks and any padding bits.
func (t *pathTracker) bytes(s string) any {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		t.malformed(err.Error())
		return nil
	}
	if isCanonicalBase64(s) {
		return s
	}
	return base64.StdEncoding.EncodeToString(raw)
}

func isCanonicalBase64(s string) bool {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' {
			return false
		}
	}
	if s == "" || s[len(s)-1] != '=' {
		return true
	}
	_, err := base64.StdEncoding.Strict().DecodeString(s[len(s)-4:])
	return err == nil
}

// time returns a time in UTC, truncated to seconds. For example, 2030-01-02T05:04:05.9+02:00
// becomes 2030-01-02T03:04:05Z. It returns nil for the zero time, which Go clients write as null.
func (t *pathTracker) time(s string) any {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.malformed(err.Error())
		return nil
	}
	if at.IsZero() {
		return nil
	}
	if len(s) == len("2006-01-02T15:04:05Z") && s[len(s)-1] == 'Z' {
		return s
	}
	if at = at.UTC(); !isStorable(at) {
		t.timeOutOfRange(s)
		return nil
	}
	return at.Format(time.RFC3339)
}

const errYearRange = "year outside of range [0,9999]"

// isStorable reports whether a UTC time has a four-digit year. RFC 3339 cannot express other years,
// so the stored time could not be decoded.
func isStorable(at time.Time) bool { return 0 <= at.Year() && at.Year() <= 9999 }

// timeOutOfRange reports a time that cannot be stored. Unlike an error of time.Parse, the message
// includes the path, because the value itself looks valid.
func (t *pathTracker) timeOutOfRange(s string) {
	last := ""
	if n := len(t.path); n > 0 && !t.path[n-1].list {
		last = t.path[n-1].name
		defer func(steps []pathElement) { t.path = steps }(t.path)
		t.path = t.path[:n-1]
	}
	t.malformed(strings.TrimSuffix(t.pathTo(last), ".") + ": " + strconv.Quote(s) + " is not a time: " + errYearRange)
}

func (t *pathTracker) microTime(s string) any {
	at, err := time.Parse(microLayout, s)
	if err != nil {
		t.malformed(err.Error())
		return nil
	}
	if at.IsZero() {
		return nil
	}
	if at = at.UTC(); !isStorable(at) {
		t.timeOutOfRange(s)
		return nil
	}
	return at.Format(microLayout)
}

func (t *pathTracker) quantity(s string) any {
	if isPlainQuantity(s) {
		return s
	}
	canonical, err := quantity.Parse(s)
	if err != nil {
		t.malformed(err.Error())
		return nil
	}
	return canonical
}

// isPlainQuantity reports whether s is a common canonical quantity such as "500m", "3" or "128Mi",
// without parsing it. Multiples of 1000 or 1024 are not canonical. Seven digits cannot overflow n.
func isPlainQuantity(s string) bool {
	n, i := 0, 0
	for ; i < len(s) && i < 7 && jsontext.IsDigit(s[i]); i++ {
		n = n*10 + int(s[i]-'0')
	}
	if i == 0 || s[0] == '0' {
		return false
	}
	switch s[i:] {
	case "", "m", "k", "M", "G":
		return n%1000 != 0
	case "Ki", "Mi", "Gi":
		return n%1024 != 0
	}
	return false
}

func (t *pathTracker) duration(s string) any {
	d, err := time.ParseDuration(s)
	if err != nil {
		t.malformed(err.Error())
		return nil
	}
	return d.String()
}

// Zero returns the value that replaces a null list element or map value, as in Go. It must agree
// with isEmpty and emptyValue.
func Zero(f *schema.Field) any {
	switch f.Type {
	case schema.TypeBool:
		return false
	case schema.TypeInt32, schema.TypeInt64, schema.TypeIntOrString:
		return int64(0)
	case schema.TypeDouble:
		return float64(0)
	case schema.TypeMessage:
		return tree.Tree{}
	case schema.TypeQuantity:
		return "0"
	case schema.TypeDuration:
		return "0s"
	case schema.TypeRaw, schema.TypeTime, schema.TypeMicroTime, schema.TypeStrings, schema.TypeFields:
		return nil
	}
	return ""
}
