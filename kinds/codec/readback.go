package codec

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/troupe-api/troupe/kinds/jsontext"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
)

// ReadBack checks that an encoded object of kind k can be stored under key and recovered: NewObject
// and DecodeStored accept every object that passes. It checks the encoded bytes rather than the
// tree, because recovery reads the bytes.
func ReadBack(k *schema.Kind, key meta.Key, json []byte) error {
	if !utf8.Valid(json) {
		return typeError("it is not valid UTF-8")
	}
	return checkDecodable(k, key, json)
}

// checkDecodable checks that stored bytes are an object of kind k that belongs under key, with
// values of the declared types. It runs for every write and every recovered object, so it avoids
// allocations. It must reject all undecodable bytes, because such an object could be read but not
// updated.
func checkDecodable(k *schema.Kind, key meta.Key, json []byte) error {
	if len(json) == 0 || k.ItemOffset() > len(json) {
		return errNoObject
	}
	r := verifier{Scanner: jsontext.Over(json)}
	r.Limit = jsontext.MaxStoredDepth
	if r.Peek() != '{' {
		return errNoObject
	}
	if err := r.message(k.Message(), inRoot); err != nil {
		return err
	}
	if err := r.End(); err != nil {
		return err
	}
	if r.metadataFields != 1 {
		return typeError("it has " + strconv.Itoa(r.metadataFields) + " fields named metadata")
	}
	if r.ref.Name != key.Name || r.ref.Namespace != key.Namespace {
		return typeError(fmt.Sprintf("its metadata has the name %.100q and the namespace %.100q", r.ref.Name, r.ref.Namespace))
	}
	return nil
}

// A verifier checks the JSON of an object without decoding it. It must accept the same values as
// decoder, so change both together.
type verifier struct {
	jsontext.Scanner
	ref            ObjectRef
	metadataFields int // count of top-level fields named metadata
}

const (
	inRoot = iota
	inMetadata
	nested
)

func (r *verifier) message(m *schema.Message, position int) error {
	if err := r.Open(); err != nil {
		return err
	}
	next := 0 // index of the expected field; the encoder writes fields in plan order
	for first := true; ; first = false {
		key, more, err := r.Key(first)
		if err != nil || !more {
			return err
		}
		f := r.fieldAt(m, key, &next)
		switch {
		case position == inRoot && key == "metadata":
			r.metadataFields++
			if f == nil || r.Peek() != '{' {
				return typeError("its metadata is not an object")
			}
			err = r.message(f.Message, inMetadata)
		case position == inMetadata && key == "name" && r.Peek() == '"':
			r.ref.Name, err = r.ReadString()
		case position == inMetadata && key == "namespace" && r.Peek() == '"':
			r.ref.Namespace, err = r.ReadString()
		case f == nil || position == inRoot && m.Custom != nil && !isMetaField(f):
			err = r.Skip()
		default:
			err = r.field(f)
		}
		if err != nil {
			return err
		}
	}
}

// fieldAt returns the field with the given key. It starts the search at *next, because most keys
// are in plan order.
func (r *verifier) fieldAt(m *schema.Message, key string, next *int) *schema.Field {
	for i := *next; i < len(m.Fields); i++ {
		if m.Fields[i].Name == key {
			*next = i + 1
			return m.Fields[i]
		}
	}
	return m.Field(key)
}

func (r *verifier) field(f *schema.Field) error {
	if f.Shape == schema.Single {
		return r.single(f)
	}
	c := r.Peek()
	switch {
	case c == 'n':
		return r.Literal("null")
	case f.Shape == schema.List && c == '[':
		return r.list(f)
	case f.Shape == schema.Map && c == '{':
		return r.mapField(f)
	}
	return r.mismatch(f)
}

func (r *verifier) list(f *schema.Field) error {
	if err := r.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := r.Element(first)
		if err != nil || !more {
			return err
		}
		if err := r.single(f); err != nil {
			return err
		}
	}
}

func (r *verifier) mapField(f *schema.Field) error {
	if err := r.Open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		_, more, err := r.Key(first)
		if err != nil || !more {
			return err
		}
		if err := r.single(f); err != nil {
			return err
		}
	}
}

func (r *verifier) single(f *schema.Field) error {
	c := r.Peek()
	switch f.Type {
	case schema.TypeRaw:
		if f.Message == nil {
			return r.Skip()
		}
		if field := unionFieldFor(f.Message, c); field != nil {
			return r.field(field)
		}
		if c != 'n' {
			return r.mismatch(f)
		}
	case schema.TypeFields:
		if c != '{' && c != 'n' {
			return r.mismatch(f)
		}
		return r.Skip()
	case schema.TypeStrings:
		if c == '[' {
			return r.list(&schema.Field{Name: f.Name, Type: schema.TypeString})
		}
		if c != 'n' {
			return r.mismatch(f)
		}
	}
	switch {
	case c == 'n':
		return r.Literal("null")
	case c == '{' && f.Type == schema.TypeMessage:
		return r.message(f.Message, nested)
	case c == '"' && f.Type != schema.TypeMessage:
		return r.checkString(f)
	case (c == 't' || c == 'f') && f.Type == schema.TypeBool:
		return r.Skip()
	case c == '-' || jsontext.IsDigit(c):
		return r.checkNumber(f)
	case c == '{' || c == '[' || c == 't' || c == 'f' || c == '"':
		return r.mismatch(f)
	}
	return r.Skip() // returns the syntax error
}

func (r *verifier) mismatch(f *schema.Field) error {
	return typeError("field " + f.Name + " has a value that is not a " + goType(f))
}

// checkString checks the format of a string. It parses bytes and quantities unless they have the
// most common form.
func (r *verifier) checkString(f *schema.Field) error {
	if f.Type == schema.TypeString || f.Type == schema.TypeIntOrString {
		return r.SkipString()
	}
	s, err := r.ReadString()
	if err != nil {
		return err
	}
	switch f.Type {
	case schema.TypeBytes:
		if !isBase64(s) {
			_, err = base64.StdEncoding.DecodeString(s)
		}
	case schema.TypeTime:
		_, err = time.Parse(time.RFC3339, s)
	case schema.TypeMicroTime:
		_, err = time.Parse(microLayout, s)
	case schema.TypeQuantity:
		if !isPlainQuantity(s) {
			_, err = quantity.Parse(s)
		}
	case schema.TypeDuration:
		_, err = time.ParseDuration(s)
	default:
		return r.mismatch(f)
	}
	if err != nil {
		return typeError("field " + f.Name + " cannot be read: " + err.Error())
	}
	return nil
}

// isBase64 reports whether s is padded base64, without decoding it. Like decoders, it ignores the
// unused bits of the last character.
func isBase64(s string) bool {
	if len(s)%4 != 0 {
		return false
	}
	end := len(s)
	for end > 0 && end > len(s)-2 && s[end-1] == '=' {
		end--
	}
	for i := range end {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !jsontext.IsDigit(c) && c != '+' && c != '/' {
			return false
		}
	}
	return true
}

func (r *verifier) checkNumber(f *schema.Field) error {
	literal, err := r.ReadNumber()
	if err != nil {
		return err
	}
	switch f.Type {
	case schema.TypeInt32, schema.TypeIntOrString:
		_, err = strconv.ParseInt(literal, 10, 32)
	case schema.TypeInt64:
		_, err = strconv.ParseInt(literal, 10, 64)
	case schema.TypeDouble:
		_, err = strconv.ParseFloat(literal, 64)
	case schema.TypeQuantity:
		_, err = quantity.Parse(literal)
	default:
		return r.mismatch(f)
	}
	if err != nil {
		return typeError("field " + f.Name + " cannot be read: " + err.Error())
	}
	return nil
}
