package codec

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/schema"
)

// ReadBack checks that the encoding of an object of kind k, before it is stored under a key, can
// be read again: whatever it passes, NewObject takes and DecodeStored decodes.
func ReadBack(k *schema.Kind, key meta.Key, json []byte) error {
	if !utf8.Valid(json) {
		return typeError("its text is not UTF-8")
	}
	return legible(k, key, json)
}

// legible checks that stored bytes are an object of kind k that belongs under a key, and that
// every value of it has its form in the plan. It allocates next to nothing.
func legible(k *schema.Kind, key meta.Key, json []byte) error {
	if len(json) == 0 || k.Item > len(json) {
		return errNoObject
	}
	r := reader{scanner: scanner{text: unsafe.String(&json[0], len(json)), stored: true}}
	if r.peek() != '{' {
		return errNoObject
	}
	if err := r.message(k.Message, inRoot); err != nil {
		return err
	}
	if err := r.end(); err != nil {
		return err
	}
	if r.heads != 1 {
		return typeError("it has " + strconv.Itoa(r.heads) + " fields called metadata")
	}
	if r.place.Name != key.Name || r.place.Namespace != key.Namespace {
		return typeError(fmt.Sprintf("it says that it is called %.100q in the namespace %.100q", r.place.Name, r.place.Namespace))
	}
	return nil
}

// A reader goes over the JSON of an object as a decoder does, by the plan, and makes nothing of it.
type reader struct {
	scanner
	place Place
	heads int // fields of the object that are called metadata
}

// Where the message at hand stands.
const (
	inRoot = iota
	inMetadata
	inside
)

func (r *reader) message(m *schema.Message, where int) error {
	if err := r.open(); err != nil {
		return err
	}
	next := 0 // of the fields of the plan: they are written in its order
	for first := true; ; first = false {
		key, more, err := r.key(first)
		if err != nil || !more {
			return err
		}
		f := r.fieldAt(m, key, &next)
		switch {
		case where == inRoot && key == "metadata":
			r.heads++
			err = r.metadata(f)
		case where == inMetadata && (key == "name" || key == "namespace") && r.peek() == '"':
			err = r.name(key)
		case f == nil || where == inRoot && m.Custom != nil && !planned(f):
			err = r.skip()
		default:
			err = r.field(f)
		}
		if err != nil {
			return err
		}
	}
}

// fieldAt finds a field of m, first where it should come.
func (r *reader) fieldAt(m *schema.Message, key string, next *int) *schema.Field {
	for i := *next; i < len(m.Fields); i++ {
		if m.Fields[i].Name == key {
			*next = i + 1
			return m.Fields[i]
		}
	}
	return m.Field(key)
}

func (r *reader) metadata(f *schema.Field) error {
	if f == nil || r.peek() != '{' {
		return typeError("its metadata is no object")
	}
	return r.message(f.Message, inMetadata)
}

func (r *reader) name(key string) error {
	s, err := r.str()
	if key == "name" {
		r.place.Name = s
	} else {
		r.place.Namespace = s
	}
	return err
}

func (r *reader) field(f *schema.Field) error {
	if f.Shape == schema.Single {
		return r.single(f)
	}
	c := r.peek()
	switch {
	case c == 'n':
		return r.literal("null")
	case f.Shape == schema.List && c == '[':
		return r.list(f)
	case f.Shape == schema.Map && c == '{':
		return r.table(f)
	}
	return r.unfit(f)
}

func (r *reader) list(f *schema.Field) error {
	if err := r.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		more, err := r.element(first)
		if err != nil || !more {
			return err
		}
		if err := r.single(f); err != nil {
			return err
		}
	}
}

func (r *reader) table(f *schema.Field) error {
	if err := r.open(); err != nil {
		return err
	}
	for first := true; ; first = false {
		_, more, err := r.key(first)
		if err != nil || !more {
			return err
		}
		if err := r.single(f); err != nil {
			return err
		}
	}
}

// single checks one value of the type of f, whatever its shape.
func (r *reader) single(f *schema.Field) error {
	c := r.peek()
	switch f.Type {
	case schema.TypeRaw:
		if f.Message == nil {
			return r.skip()
		}
		if alternative := alternativeFor(f.Message, c); alternative != nil {
			return r.field(alternative)
		}
		if c != 'n' {
			return r.unfit(f)
		}
	case schema.TypeFields:
		if c != '{' && c != 'n' {
			return r.unfit(f)
		}
		return r.skip()
	case schema.TypeStrings:
		if c == '[' {
			return r.list(&schema.Field{Name: f.Name, Type: schema.TypeString})
		}
		if c != 'n' {
			return r.unfit(f)
		}
	}
	switch {
	case c == 'n':
		return r.literal("null")
	case c == '{' && f.Type == schema.TypeMessage:
		return r.message(f.Message, inside)
	case c == '"' && f.Type != schema.TypeMessage:
		return r.text(f)
	case (c == 't' || c == 'f') && f.Type == schema.TypeBool:
		return r.skip()
	case c == '-' || isDigit(c):
		return r.figure(f)
	case c == '{' || c == '[' || c == 't' || c == 'f' || c == '"':
		return r.unfit(f)
	}
	return r.skip() // which says what is wrong
}

// unfit is the error for a value that does not fit its field.
func (r *reader) unfit(f *schema.Field) error {
	return typeError("a field " + f.Name + " holds a value that is no " + goType(f))
}

// text checks a string.
func (r *reader) text(f *schema.Field) error {
	if f.Type == schema.TypeString || f.Type == schema.TypeIntOrString {
		return r.skipStr()
	}
	s, err := r.str()
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
		return r.unfit(f)
	}
	if err != nil {
		return typeError("a field " + f.Name + " cannot be read: " + err.Error())
	}
	return nil
}

// isBase64 knows what an encoder writes, without decoding it.
func isBase64(s string) bool {
	if len(s)%4 != 0 {
		return false
	}
	end := len(s)
	for end > 0 && end > len(s)-2 && s[end-1] == '=' {
		end--
	}
	for i := range end {
		if c := s[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !isDigit(c) && c != '+' && c != '/' {
			return false
		}
	}
	return true
}

// figure checks a number.
func (r *reader) figure(f *schema.Field) error {
	literal, err := r.number()
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
		return r.unfit(f)
	}
	if err != nil {
		return typeError("a field " + f.Name + " cannot be read: " + err.Error())
	}
	return nil
}
