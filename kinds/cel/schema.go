package cel

import (
	"math"

	"github.com/google/cel-go/cel"
)

// A Schema says what values of trees mean in expressions: NewType makes their type of it, and Schema.Value
// the values. It is neither the schema of OpenAPI nor that of built-in kinds but what both have in common
// for expressions; package custom makes it of a definition.
type Schema struct {
	Type   string // object, array, string, integer, number, boolean; "" for any
	Format string // of texts: byte, date, date-time and duration are no strings in expressions

	Properties map[string]*Schema // nil: the object has no declared fields
	Required   []string
	Additional *Schema // of the entries of a map; nil if it is none
	Items      *Schema
	ListType   string // "", atomic, set, or map
	ListKeys   []string

	IntOrString, Embedded, PreserveUnknown, Nullable bool
	HasDefault                                       bool

	MaxLength, MaxItems, MaxProperties *int64
	Enum                               []any
}

// NewType is the type of the values of a schema; nil if expressions cannot use them. name begins the names
// of the types of objects in it, and must be one that no expression can spell, as in "@self": an expression
// that selects a field of a field, such as self.spec.size, is never taken for the name of a type.
// isResource tells an object with kind and metadata. The limits of lists and texts go into the type, for
// estimates. Where a schema has none, a value can be as large as a request is at most, divided by the
// smallest size of an element.
func NewType(s *Schema, name string, isResource bool) *Type {
	objects := map[string]*Type{}
	return typer{objects}.of(s, name, isResource)
}

// A typer makes the types of one schema. They share the objects that it collects. All objects are
// collected, because the compiler asks for types by name.
type typer struct{ objects map[string]*Type }

// of is nil for a schema whose values have no single type; such a field cannot be selected.
func (t typer) of(s *Schema, name string, isResource bool) *Type {
	if s.IntOrString {
		d := simple(cel.DynType, 1)
		d.maxElements = s.maxText()
		return d
	}
	if isResource {
		s = s.AsResource()
	}
	switch s.Type {
	case "array":
		return t.list(s, name)
	case "object":
		if s.Additional != nil {
			return t.mapping(s, name)
		}
		return t.object(s, name)
	case "string":
		return s.text()
	case "boolean":
		return Bool
	case "number":
		return Double
	case "integer":
		return Int
	}
	return nil
}

// list is nil for a list whose items cannot be used; so is mapping.
func (t typer) list(s *Schema, name string) *Type {
	if s.Items == nil {
		return nil
	}
	elem := t.of(s.Items, name+".@idx", s.Items.Embedded)
	if elem == nil {
		return nil
	}
	// Two brackets, and a comma after each element.
	limit := (maxRequest - 2) / (elem.minSize + 1)
	if s.MaxItems != nil {
		limit = max(0, *s.MaxItems)
	}
	list := listOf(elem, limit)
	list.objects = t.objects
	return list
}

func (t typer) mapping(s *Schema, name string) *Type {
	elem := t.of(s.Additional, name+".@elem", s.Additional.Embedded)
	if elem == nil {
		return nil
	}
	// Each entry has a key with its quotes, a colon and a comma besides.
	limit := (maxRequest - 2) / (elem.minSize + 6)
	if s.MaxProperties != nil {
		limit = max(0, *s.MaxProperties)
	}
	m := mapOf(elem, limit)
	m.objects = t.objects
	return m
}

// The smallest size counts required fields only, with quotes, colon and comma; one that has a default need
// not be in the request. A field whose name cannot be escaped is typed, for the objects in it, but not
// declared.
func (t typer) object(s *Schema, name string) *Type {
	o := &Type{cel: cel.ObjectType(name), fields: map[string]*Type{}, minSize: 2, objects: t.objects}
	t.objects[name] = o
	required := map[string]bool{}
	for _, field := range s.Required {
		required[field] = true
	}
	for field, of := range s.Properties {
		escaped, ok := Escape(field)
		at := name + "." + escaped
		if !ok {
			at = name + ".@" + field
		}
		f := t.of(of, at, of.Embedded)
		if f == nil {
			continue
		}
		if ok {
			o.fields[escaped] = f
		}
		if required[field] && !of.HasDefault {
			o.minSize += int64(len(field)) + f.minSize + 4
		}
	}
	return o
}

// text is the type of texts, and of what they stand for. The sizes of times and durations are the lengths
// of their shortest and longest texts, with quotes.
func (s *Schema) text() *Type {
	t := *String
	t.maxElements = s.maxText()
	switch s.Format {
	case "byte":
		t.cel = cel.BytesType
		if s.MaxLength != nil {
			t.maxElements = max(0, *s.MaxLength)
		}
	case "duration":
		t.cel, t.minSize, t.maxElements = cel.DurationType, 3, 32
	case "date":
		t.cel, t.minSize, t.maxElements = cel.TimestampType, 12, 12
	case "date-time":
		t.cel, t.minSize, t.maxElements = cel.TimestampType, 21, 32
	}
	return &t
}

// maxText is the length of a text at most, in bytes. A character takes up to four bytes, and limits of
// schemas count characters.
func (s *Schema) maxText() int64 {
	switch {
	case s.MaxLength != nil:
		if *s.MaxLength > math.MaxInt64/4 {
			return math.MaxInt64
		}
		return 4 * max(0, *s.MaxLength) // of characters
	case len(s.Enum) > 0 && !s.IntOrString && s.Format != "byte":
		longest := 0
		for _, v := range s.Enum {
			if text, ok := v.(string); ok {
				longest = max(longest, len(text))
			}
		}
		return int64(longest)
	}
	return maxRequest - 2
}

// The fields that expressions see of any resource, whatever its schema says.
var (
	textSchema     = &Schema{Type: "string"}
	metadataSchema = &Schema{Type: "object", Properties: map[string]*Schema{"name": textSchema, "generateName": textSchema}}
)

// AsResource is the schema for an object with kind, apiVersion, and name and generateName in its metadata.
// Rules of the public API see no other metadata.
func (s *Schema) AsResource() *Schema {
	is := func(p *Schema, kind string) bool { return p != nil && p.Type == kind }
	metadata := s.Properties["metadata"]
	if is(s.Properties["kind"], "string") && is(s.Properties["apiVersion"], "string") && is(metadata, "object") &&
		is(metadata.Properties["name"], "string") && is(metadata.Properties["generateName"], "string") {
		return s
	}
	with := *s
	with.Properties = make(map[string]*Schema, len(s.Properties)+3)
	for name, p := range s.Properties {
		with.Properties[name] = p
	}
	with.Properties["kind"], with.Properties["apiVersion"], with.Properties["metadata"] = textSchema, textSchema, metadataSchema
	return &with
}
