package codec

import (
	"errors"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/jsontext"
)

const maxFaults = 100

// A FieldFault is an unknown or duplicate field of a body.
type FieldFault struct {
	Path      string // as in spec.containers[0].image
	Duplicate bool   // otherwise the field is unknown
	Message   string // complete message of a YAML parser error without a path
	// Tolerated is set for faults inside a union. They cause only warnings, even in strict
	// requests, because published CRDs contain unknown fields in unions and kube-apiserver's strict
	// decoder does not check them.
	Tolerated bool
}

// Refused returns the faults for which strict field validation rejects a request.
func Refused(faults []FieldFault) (refused []FieldFault) {
	for _, f := range faults {
		if !f.Tolerated {
			refused = append(refused, f)
		}
	}
	return refused
}

// UnknownPaths returns the paths of the unknown fields among faults.
func UnknownPaths(faults []FieldFault) (paths []string) {
	for _, f := range faults {
		if !f.Duplicate {
			paths = append(paths, f.Path)
		}
	}
	return paths
}

// String returns the message of a warning or strict error, such as: unknown field "spec.foo".
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

type typeError string

func (e typeError) Error() string { return string(e) }

type mismatchError struct {
	typeError
	value, goType string // as in pathTracker.mismatch
}

func (e mismatchError) Unwrap() error { return e.typeError }

type malformedError struct {
	typeError
	path string
}

func (e malformedError) Unwrap() error { return e.typeError }

// MalformedPath returns the path of a value of the wrong format, such as a quantity. It returns ""
// for other errors, whose text contains the path.
func MalformedPath(err error) string {
	e, _ := errors.AsType[malformedError](err)
	return e.path
}

// ConversionText returns the message for an error of Conform after a strategic merge patch.
// kube-apiserver uses other messages there, because it does not decode the result from JSON.
func ConversionText(err error) string {
	e, ok := errors.AsType[mismatchError](err)
	if !ok {
		return err.Error()
	}
	from := e.goKind()
	switch {
	case strings.HasPrefix(e.goType, "map["):
		return "cannot restore map from " + from
	case strings.HasPrefix(e.goType, "[]"):
		return "cannot restore slice from " + from
	case strings.Contains(e.goType, "."):
		return "cannot restore struct from: " + from
	case isNumeric(from) && isNumeric(e.goType), from == "int64" && e.goType == "string": // as in Go conversions
		return "cannot convert " + from + " to " + e.goType
	}
	return "unrecognized type: " + e.goType
}

func (e mismatchError) goKind() string {
	kind, literal, _ := strings.Cut(e.value, " ")
	switch {
	case kind == "object":
		return "map"
	case kind == "array":
		return "slice"
	case kind == "number" && strings.ContainsAny(literal, ".eE"):
		return "float64"
	case kind == "number":
		return "int64"
	}
	return kind
}

func isNumeric(goType string) bool {
	return goType == "int32" || goType == "int64" || goType == "float64"
}

// IsTypeError reports whether err concerns a value of the wrong type or format in a well-formed
// body.
func IsTypeError(err error) bool {
	_, ok := errors.AsType[typeError](err)
	return ok
}

func joinNames(names []string) string { return strings.Join(names, ".") }

// ErrTooManyMessages reports that a body or the result of a patch contains too many nested objects.
const ErrTooManyMessages = jsontext.SyntaxError("an object may have at most 65536 nested objects, such as the items of a list")

// maxMessages limits the number of nested objects in one incoming object. An empty object takes a
// few bytes of JSON, but a thousand times as much memory to default, validate and compare.
const maxMessages = 1 << 16
