package codec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A pathTracker is the path from the root of an object to the value at hand, with the faults found so far.
// The text of a path is made only when a fault needs it.
//
// Walks push an element before they go to a value and pop it afterwards; after an error that ends the walk
// they need not. The path spec.containers[0].image is four elements.
type pathTracker struct {
	path   []pathElement
	faults []FieldFault
	unions int   // that the value at hand is in
	err    error // the first value of a wrong type
}

// A pathElement is a field (message is set), a key of a map, or an index of a list.
type pathElement struct {
	name    string
	list    bool
	index   int
	message *schema.Message // the one that has the field
}

func (t *pathTracker) pop() { t.path = t.path[:len(t.path)-1] }

func (t *pathTracker) pushField(m *schema.Message, f *schema.Field) {
	t.path = append(t.path, pathElement{name: f.Name, message: m})
}

func (t *pathTracker) pushKey(key string) { t.path = append(t.path, pathElement{name: key}) }

func (t *pathTracker) pushIndex(i int) { t.path = append(t.path, pathElement{list: true, index: i}) }

// unknown reports a field of the value at hand that the plan does not have.
func (t *pathTracker) unknown(name string) { t.fault(name, false) }

// duplicate reports a field or key that the value at hand has twice.
func (t *pathTracker) duplicate(name string) { t.fault(name, true) }

// fault records a fault once, as long as there are not too many.
//
// The search is linear, over at most maxFaults. A field that is there three times is one fault.
func (t *pathTracker) fault(name string, duplicate bool) {
	if len(t.faults) >= maxFaults {
		return
	}
	fault := FieldFault{Path: t.pathTo(name), Duplicate: duplicate, Tolerated: t.unions > 0}
	for _, f := range t.faults {
		if f == fault {
			return
		}
	}
	t.faults = append(t.faults, fault)
}

// pathTo is the path of a field or key of the value at hand. It is cut at about 1 KiB, because it gets
// into responses and logs while its length is up to the client.
func (t *pathTracker) pathTo(name string) string {
	const limit = 1024
	var b strings.Builder
	for _, s := range t.path {
		if b.Len() > limit {
			b.WriteString("...")
			break
		}
		switch {
		case s.list:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
		case b.Len() == 0:
			b.WriteString(s.name)
		default:
			b.WriteByte('.')
			b.WriteString(s.name)
		}
	}
	if b.Len() > 0 {
		b.WriteByte('.')
	}
	if len(name) > limit {
		name = name[:limit] + "..."
	}
	b.WriteString(name)
	return b.String()
}

// mismatch remembers that a value, described as in "number 1.5", does not fit a type. Only the first one
// is reported, as by Go's decoder, with its struct and field names, and with the number if the type is one.
//
// For instance, in the ports of a Pod's container:
//
//	json: cannot unmarshal number 1.5 into Go struct field
//	ContainerPort.spec.containers.ports.containerPort of type int32
//
// Indexes of lists and keys of maps are not in the path, and the struct is the one that has the field.
// Clients show this text, and some look for parts of it.
func (t *pathTracker) mismatch(value, goType string) {
	if t.err != nil {
		return
	}
	var names []string
	var inside *schema.Message
	for _, s := range t.path {
		if s.message != nil {
			names, inside = append(names, s.name), s.message
		}
	}
	shown := value
	if !isNumeric(goType) {
		shown, _, _ = strings.Cut(value, " ")
	}
	text := "json: cannot unmarshal " + shown + " into Go "
	if inside == nil {
		text += "value of type " + goType
	} else {
		text += "struct field " + simpleName(inside.Name) + "." + joinNames(names) + " of type " + goType
	}
	t.err = mismatchError{typeError(text), value, goType}
}

// mismatchOf is mismatch for a value of a tree.
func (t *pathTracker) mismatchOf(v any, goType string) {
	value := valueType(v)
	if value == "number" {
		value = fmt.Sprint(value, " ", v)
	}
	t.mismatch(value, goType)
}

// malformed remembers that the text of a value does not have the form of its type.
func (t *pathTracker) malformed(text string) {
	if t.err == nil {
		t.err = typeError(text)
	}
}

// simpleName is the part of a message's name after the last dot.
func simpleName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// goType names the type of a field as errors do: "[]v1.Container". Types have the names of the API's Go
// packages, which are those of the messages.
func goType(f *schema.Field) string {
	switch f.Shape {
	case schema.List:
		return "[]" + elementType(f)
	case schema.Map:
		return "map[string]" + elementType(f)
	}
	return elementType(f)
}

// elementType names the type of an element of a list or map, or of a single value, as errors do.
func elementType(f *schema.Field) string {
	switch f.Type {
	case schema.TypeBool:
		return "bool"
	case schema.TypeInt32, schema.TypeIntOrString:
		return "int32"
	case schema.TypeInt64:
		return "int64"
	case schema.TypeDouble:
		return "float64"
	case schema.TypeBytes:
		return "[]uint8"
	case schema.TypeMessage:
		return messageType(f.Message)
	}
	return "string"
}

// messageType is "v1.PodSpec" for the message core.v1.PodSpec.
func messageType(m *schema.Message) string {
	end := strings.LastIndexByte(m.Name, '.')
	if end < 0 {
		return m.Name
	}
	return m.Name[strings.LastIndexByte(m.Name[:end], '.')+1:]
}
