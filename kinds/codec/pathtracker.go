package codec

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
)

// A pathTracker records the path to the current value and the faults so far. Callers push a path
// element before visiting a value and pop it afterward, except after fatal errors. Paths are
// formatted only for faults.
type pathTracker struct {
	path   []pathElement
	faults []FieldFault
	unions int   // number of enclosing unions
	err    error // error for the first value of a wrong type
}

// A pathElement is a field (message is set), a map key, or a list index.
type pathElement struct {
	name    string
	list    bool
	index   int
	message *schema.Message // the message that has the field
}

func (t *pathTracker) pop() { t.path = t.path[:len(t.path)-1] }

func (t *pathTracker) pushField(m *schema.Message, f *schema.Field) {
	t.path = append(t.path, pathElement{name: f.Name, message: m})
}

func (t *pathTracker) pushKey(key string) { t.path = append(t.path, pathElement{name: key}) }

func (t *pathTracker) pushIndex(i int) { t.path = append(t.path, pathElement{list: true, index: i}) }

func (t *pathTracker) unknown(name string) { t.fault(name, false) }

func (t *pathTracker) duplicate(name string) { t.fault(name, true) }

// fault records a fault unless it is a duplicate or there are already maxFaults. The limit also
// keeps the linear search for duplicates cheap.
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

// pathTo returns the path of a field or key, truncated at about 1 KiB. Paths appear in responses
// and logs, and clients control their length.
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

// mismatch records the first value of a wrong type. value describes it, as in "number 1.5". The
// message matches encoding/json's, plus the number if the type is numeric:
//
//	json: cannot unmarshal number 1.5 into Go struct field
//	ContainerPort.spec.containers.ports.containerPort of type int32
//
// The path omits list indexes and map keys. Clients show this message, and some search it.
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

func (t *pathTracker) mismatchOf(v any, goType string) {
	value := valueType(v)
	if value == "number" {
		value = fmt.Sprint(value, " ", v)
	}
	t.mismatch(value, goType)
}

func (t *pathTracker) malformed(text string) {
	if t.err == nil {
		t.err = malformedError{typeError(text), strings.TrimSuffix(t.pathTo(""), ".")}
	}
}

func simpleName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// goType returns a field's Go type for error messages, such as "[]v1.Container".
func goType(f *schema.Field) string {
	switch f.Shape {
	case schema.List:
		return "[]" + elementType(f)
	case schema.Map:
		return "map[string]" + elementType(f)
	}
	return elementType(f)
}

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

func messageType(m *schema.Message) string {
	end := strings.LastIndexByte(m.Name, '.')
	if end < 0 {
		return m.Name
	}
	return m.Name[strings.LastIndexByte(m.Name[:end], '.')+1:]
}
