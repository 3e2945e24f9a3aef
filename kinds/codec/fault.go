package codec

import (
	"errors"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

// maxFaults bounds the faults that are reported for one body.
const maxFaults = 100

// A FieldFault is a field of a body that its kind does not know, or that the body has twice.
type FieldFault struct {
	Path      string // as in spec.containers[0].image
	Duplicate bool   // else the field is unknown
	Message   string // the whole wording, of a YAML parser that knows no path
	// Tolerated: it is below a union, into which the strict decoder of the public server does not look. Definitions of the real
	// world have such fields, so it is no error but a warning, however strict a request is.
	Tolerated bool
}

// Refused are the faults that make a strict request fail.
func Refused(faults []FieldFault) (refused []FieldFault) {
	for _, f := range faults {
		if !f.Tolerated {
			refused = append(refused, f)
		}
	}
	return refused
}

// String is the wording of warnings and strict errors: unknown field "spec.foo".
func (f FieldFault) String() string {
	if f.Message != "" {
		return f.Message
	}
	if f.Duplicate {
		return "duplicate field " + quote(f.Path)
	}
	return "unknown field " + quote(f.Path)
}

func quote(s string) string { return strconv.Quote(s) }

// A typeError says that a value has the wrong type or form.
type typeError string

func (e typeError) Error() string { return string(e) }

// IsTypeError tells whether err, of a decoder, is about a value of the wrong type or form
// in a body that is otherwise well formed.
func IsTypeError(err error) bool {
	_, ok := errors.AsType[typeError](err)
	return ok
}

// joinNames writes names as "a.b.c".
func joinNames(names []string) string { return strings.Join(names, ".") }

// ErrTooManyMessages says that a body, or the result of a patch, holds too many messages.
const ErrTooManyMessages = jsontext.SyntaxError("an object may hold at most 65536 objects that its kind declares, such as the items of a list")

// maxMessages bounds the messages in one object that comes in. An empty one is a few bytes of JSON and
// takes a thousand times as much memory while it gets defaults, is validated and compared.
const maxMessages = 1 << 16
