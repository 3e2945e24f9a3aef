package codec

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

const (
	errCBOREnd        = jsontext.SyntaxError("unexpected EOF")
	errCBORIndefinite = jsontext.SyntaxError("cbor: invalid chunk of a string of indefinite length")
	errCBORBreak      = jsontext.SyntaxError(`cbor: unexpected "break" code`)
)

// ErrTooLargeAsJSON reports that a CBOR body would exceed the request size limit when converted to
// JSON.
const ErrTooLargeAsJSON = jsontext.SyntaxError("the body exceeds the limit of requests when converted to JSON")

// DecodeCBOR is DecodeJSON for CBOR. limit is the maximum size in bytes after conversion to JSON,
// which also limits the tree's memory.
//
// Strings may be byte strings or text strings. A floating-point number such as 1.0 is not an
// integer. Only the tags for times and text encodings are interpreted. Bignums, duplicate keys and
// values that JSON cannot express are errors.
func DecodeCBOR(m *schema.Message, data []byte, limit int) (tree.Tree, []FieldFault, error) {
	return decodeCBOR(m, data, limit, false)
}

// DecodeCBORConfig is DecodeCBOR for apply configurations (see DecodeConfig).
func DecodeCBORConfig(m *schema.Message, data []byte, limit int) (tree.Tree, []FieldFault, error) {
	return decodeCBOR(m, data, limit, m.Custom == nil)
}

func decodeCBOR(m *schema.Message, data []byte, limit int, nulls bool) (tree.Tree, []FieldFault, error) {
	r := cborReader{text: string(data), budget: limit}
	v, err := r.document()
	if err != nil {
		return nil, nil, err
	}
	t, ok := v.(tree.Tree)
	if !ok {
		return nil, nil, typeError("json: cannot unmarshal " + valueType(v) + " into Go value of type " + messageType(m))
	}
	c := conformer{root: true, keepNulls: nulls}
	return c.object(m, t)
}

// A cborReader reads one CBOR item into a tree. The conformer checks the fields afterward.
// Floating-point numbers become json.Number and tagged byte strings become taggedBytes, because
// their final types depend on the field. Strings share the memory of text, a copy of the body.
type cborReader struct {
	text     string
	pos      int
	depth    int
	budget   int    // remaining budget, in bytes of JSON
	encoding uint64 // tag of the byte strings being read, or 0
	items    []any  // items of the open arrays, innermost last
}

// A taggedBytes is a byte string that JSON represents as text in the tag's encoding.
type taggedBytes struct {
	raw string
	tag uint64
}

func (l taggedBytes) String() string {
	switch l.tag {
	case tagBase64URL:
		return base64.RawURLEncoding.EncodeToString([]byte(l.raw))
	case tagBase16:
		return hex.EncodeToString([]byte(l.raw))
	}
	return base64.StdEncoding.EncodeToString([]byte(l.raw))
}

func (l taggedBytes) size() int {
	if l.tag == tagBase16 {
		return hex.EncodedLen(len(l.raw))
	}
	return base64.StdEncoding.EncodedLen(len(l.raw))
}

func (r *cborReader) document() (any, error) {
	v, err := r.value()
	if err == nil && r.pos < len(r.text) {
		err = jsontext.SyntaxError("cbor: " + strconv.Itoa(len(r.text)-r.pos) + " bytes of extraneous data starting at index " + strconv.Itoa(r.pos))
	}
	return v, err
}

// spend subtracts n bytes of JSON from the budget. n is the size of the value's shortest JSON form,
// including the comma after it.
func (r *cborReader) spend(n int) error {
	if r.budget -= n; r.budget < 0 {
		return ErrTooLargeAsJSON
	}
	return nil
}

func (r *cborReader) head() (major, info byte, n uint64, err error) {
	if r.pos >= len(r.text) {
		return 0, 0, 0, errCBOREnd
	}
	c := r.text[r.pos]
	r.pos++
	major, info = c>>5, c&0x1f
	if info < cborArgument8 {
		return major, info, uint64(info), nil
	}
	if info == cborIndefinite {
		if major >= cborBytes && major <= cborMap || major == cborSimple {
			return major, info, 0, nil
		}
	}
	if info > cborArgument64 {
		return 0, 0, 0, jsontext.SyntaxError("cbor: invalid additional information " + strconv.Itoa(int(info)) + " for type " + cborTypes[major])
	}
	size := 1 << (info - cborArgument8)
	if len(r.text)-r.pos < size {
		return 0, 0, 0, errCBOREnd
	}
	var argument [8]byte
	copy(argument[8-size:], r.text[r.pos:r.pos+size])
	r.pos += size
	return major, info, binary.BigEndian.Uint64(argument[:]), nil
}

var cborTypes = [8]string{"positive integer", "negative integer", "byte string", "UTF-8 text string", "array", "map", "tag", "primitives"}

// value reads one item with its tags. An encoding tag applies to all strings within the item.
func (r *cborReader) value() (any, error) {
	outer := r.encoding
	defer func() { r.encoding = outer }()
	timeTag, isTime := uint64(0), false
	for {
		major, info, n, err := r.head()
		if err != nil {
			return nil, err
		}
		if major != cborTag {
			v, err := r.item(major, info, n)
			if err == nil && isTime {
				return timeOfTag(timeTag, v)
			}
			return v, err
		}
		switch n {
		case tagTimeText, tagTimeEpoch:
			timeTag, isTime = n, true
		case tagBignum, tagNegBignum:
			return nil, jsontext.SyntaxError("cbor: data item of CBOR type bignum is not accepted by protocol")
		case tagBase64URL, tagBase64, tagBase16:
			r.encoding = n
		}
	}
}

func (r *cborReader) item(major, info byte, n uint64) (any, error) {
	switch major {
	case cborUint, cborNegInt:
		return r.integer(major, n)
	case cborBytes, cborText:
		return r.string(major, info, n)
	case cborArray:
		return r.array(info == cborIndefinite, n)
	case cborMap:
		return r.object(info == cborIndefinite, n)
	}
	return r.simple(info, n)
}

func (r *cborReader) integer(major byte, n uint64) (any, error) {
	if n > math.MaxInt64 {
		return nil, jsontext.SyntaxError("cbor: cannot unmarshal " + cborTypes[major] + " into Go value of type int64 (" + cborInteger(major, n) + " overflows Go's int64)")
	}
	if major == cborNegInt {
		return ^int64(n), r.spend(len("-1,"))
	}
	return int64(n), r.spend(len("1,"))
}

func cborInteger(major byte, n uint64) string {
	switch {
	case major == cborUint:
		return strconv.FormatUint(n, 10)
	case n == math.MaxUint64:
		return "-18446744073709551616"
	}
	return "-" + strconv.FormatUint(n+1, 10)
}

func (r *cborReader) simple(info byte, n uint64) (any, error) {
	switch info {
	case cborFalse:
		return false, r.spend(len("false,"))
	case cborTrue:
		return true, r.spend(len("true,"))
	case cborNull:
		return nil, r.spend(len("null,"))
	case cborArgument16:
		return r.float(fromHalf(uint16(n)))
	case cborArgument32:
		return r.float(float64(math.Float32frombits(uint32(n))))
	case cborArgument64:
		return r.float(math.Float64frombits(n))
	case cborIndefinite:
		return nil, errCBORBreak
	}
	return nil, jsontext.SyntaxError("cbor: data item of CBOR type primitives is not accepted by protocol: simple value " + strconv.FormatUint(n, 10) + " is not recognized")
}

// float returns a number as a JSON literal with a point or exponent, which marks it as a
// non-integer.
func (r *cborReader) float(n float64) (any, error) {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, jsontext.SyntaxError("cbor: floating-point " + strconv.FormatFloat(n, 'g', -1, 64) + " is not accepted by protocol")
	}
	literal := string(appendFloat(nil, n))
	if !strings.ContainsAny(literal, ".e") {
		literal += ".0"
	}
	return json.Number(literal), r.spend(len("1.0,"))
}

func (r *cborReader) string(major, info byte, n uint64) (any, error) {
	s, err := r.content(major, info, n)
	if err != nil {
		return nil, err
	}
	if major == cborBytes && r.encoding != 0 {
		later := taggedBytes{s, r.encoding}
		return later, r.spend(later.size() + len(`"",`))
	}
	if s, err = validText(major, s); err != nil {
		return nil, err
	}
	return s, r.spend(len(s) + len(`"",`))
}

// validText rejects invalid UTF-8 in text strings. In byte strings it replaces invalid UTF-8, like
// the decoders of other formats.
func validText(major byte, s string) (string, error) {
	switch {
	case utf8.ValidString(s):
		return s, nil
	case major == cborText:
		return "", jsontext.SyntaxError("cbor: invalid UTF-8 string")
	}
	return strings.Map(func(c rune) rune { return c }, s), nil // replaces each invalid byte by U+FFFD
}

func (r *cborReader) content(major, info byte, n uint64) (string, error) {
	if info != cborIndefinite {
		return r.take(n)
	}
	var whole strings.Builder
	for {
		part, info, n, err := r.head()
		switch {
		case err != nil:
			return "", err
		case part == cborSimple && info == cborIndefinite:
			return whole.String(), nil
		case part != major || info == cborIndefinite:
			return "", errCBORIndefinite
		}
		chunk, err := r.take(n)
		if err == nil {
			_, err = validText(major, chunk) // each chunk of a text string must be valid UTF-8
		}
		if err != nil {
			return "", err
		}
		whole.WriteString(chunk)
	}
}

func (r *cborReader) take(n uint64) (string, error) {
	if n > uint64(len(r.text)-r.pos) {
		return "", errCBOREnd
	}
	start := r.pos
	r.pos += int(n)
	return r.text[start:r.pos], nil
}

// more reports whether an array or map has another item. For a definite length, left is the number
// of remaining items.
func (r *cborReader) more(indefinite bool, left uint64) (bool, error) {
	if !indefinite {
		return left > 0, nil
	}
	if r.pos >= len(r.text) {
		return false, errCBOREnd
	}
	if r.text[r.pos] == cborSimple<<5|cborIndefinite {
		r.pos++
		return false, nil
	}
	return true, nil
}

// enter adds one nesting level, counted as in JSON. The caller must decrement depth after it reads
// the value.
func (r *cborReader) enter() error {
	if r.depth++; r.depth > jsontext.MaxDepth {
		return jsontext.ErrDepth
	}
	return r.spend(len("{},"))
}

// array reads n items. It does not preallocate them, because n is untrusted.
func (r *cborReader) array(indefinite bool, n uint64) (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	base := len(r.items)
	for ; ; n-- {
		more, err := r.more(indefinite, n)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		r.items = append(r.items, v)
	}
	r.depth--
	list := make([]any, len(r.items)-base)
	copy(list, r.items[base:])
	clear(r.items[base:])
	r.items = r.items[:base]
	return list, nil
}

func (r *cborReader) object(indefinite bool, n uint64) (any, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	object := make(tree.Tree)
	for i := 0; ; i, n = i+1, n-1 {
		more, err := r.more(indefinite, n)
		if err != nil {
			return nil, err
		}
		if !more {
			r.depth--
			return object, nil
		}
		key, err := r.key()
		if err != nil {
			return nil, err
		}
		v, err := r.value()
		if err != nil {
			return nil, err
		}
		before := len(object)
		if object[key] = v; len(object) == before {
			return nil, jsontext.SyntaxError("cbor: found duplicate map key " + strconv.Quote(key) + " at map element index " + strconv.Itoa(i))
		}
	}
}

// key reads the key of a pair, which must be a string. The fast path avoids an allocation.
func (r *cborReader) key() (string, error) {
	start := r.pos
	major, info, n, err := r.head()
	if err == nil && (major == cborText || major == cborBytes && r.encoding == 0) && info != cborIndefinite {
		s, err := r.take(n)
		if err == nil {
			s, err = validText(major, s)
		}
		if err != nil {
			return "", err
		}
		return s, r.spend(len(s) + len(`"":`))
	}
	r.pos = start
	v, err := r.value()
	if err != nil {
		return "", err
	}
	switch key := v.(type) {
	case string:
		return key, nil
	case taggedBytes:
		return key.String(), nil
	}
	return "", jsontext.SyntaxError("cbor: cannot unmarshal " + valueType(v) + " into Go value of type string")
}

func timeOfTag(tag uint64, v any) (string, error) {
	var at time.Time
	text, isText := v.(string)
	seconds, isInt := v.(int64)
	number, isFloat := v.(json.Number)
	switch {
	case tag == tagTimeText && isText:
		var err error
		if at, err = time.Parse(time.RFC3339, text); err != nil {
			return "", jsontext.SyntaxError("cbor: cannot set " + text + " for time.Time: " + err.Error())
		}
	case tag == tagTimeEpoch && isInt:
		at = time.Unix(seconds, 0).UTC()
	case tag == tagTimeEpoch && isFloat:
		n, _ := number.Float64() // cannot fail, because float formatted it
		whole, part := math.Modf(n)
		at = time.Unix(int64(whole), int64(part*1e9)).UTC()
	default:
		return "", jsontext.SyntaxError("cbor: tag number " + strconv.FormatUint(tag, 10) + " must not be followed by a value of JSON type " + valueType(v))
	}
	if at.Year() < 0 || at.Year() > 9999 {
		return "", jsontext.SyntaxError("cbor: decoded time cannot be represented in RFC3339 format")
	}
	return at.Format(time.RFC3339Nano), nil
}
