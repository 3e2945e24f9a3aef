package cel

import (
	"maps"
	"math"

	"cel.dev/cel-go/cel"
)

// A Schema determines the CEL types of tree values. NewType returns the type, and Schema.Value
// converts a value. Package crd derives Schemas from CRDs.
type Schema struct {
	Type   string // object, array, string, integer, number, boolean; "" for any
	Format string // byte, date, date-time and duration are not strings in expressions

	Properties map[string]*Schema // nil if no fields are declared
	Required   []string
	Additional *Schema // schema of map values; nil if not a map
	Items      *Schema
	ListType   string // "", atomic, set, or map
	ListKeys   []string

	IntOrString, Embedded, PreserveUnknown, Nullable bool
	HasDefault                                       bool

	MaxLength, MaxItems, MaxProperties *int64
	Enum                               []any
}

// NewType returns the type of a schema's values, or nil if expressions cannot use them. isResource
// adds kind and metadata. name is the prefix of object type names. It must not be a valid
// expression, as in "@self", so that self.spec.size is never mistaken for a type.
//
// For cost estimates, types contain the maximum sizes of lists and strings. If the schema sets no
// limit, the request size does.
func NewType(s *Schema, name string, isResource bool) *Type {
	objects := map[string]*Type{}
	return typer{objects}.of(s, name, isResource)
}

// A typer collects the object types of one schema, which the type checker looks up by name.
type typer struct{ objects map[string]*Type }

// of returns the type of s, or nil if the schema allows values of several types. Expressions cannot
// select such a field.
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

// list returns the list type of s, or nil if the items have no type that expressions can use.
func (t typer) list(s *Schema, name string) *Type {
	if s.Items == nil {
		return nil
	}
	elem := t.of(s.Items, name+".@idx", s.Items.Embedded)
	if elem == nil {
		return nil
	}
	// A JSON list takes two bytes for brackets, and one for the comma after each element.
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
	// A JSON member takes at least six bytes in addition to its value: a key of two bytes, quotes,
	// a colon and a comma. kube-apiserver assumes the same.
	limit := (maxRequest - 2) / (elem.minSize + 6)
	if s.MaxProperties != nil {
		limit = max(0, *s.MaxProperties)
	}
	m := mapOf(elem, limit)
	m.objects = t.objects
	return m
}

// object returns an object type. Its minimum size is that of an object with only the required
// fields that have no default. It omits fields whose names cannot be escaped, but registers the
// object types below them.
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

// text returns the type for strings in the schema's format. For times and durations, it sets the
// minimum and maximum length in JSON, including quotes.
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

// maxText returns the maximum length of a string in bytes. Schemas limit the number of characters,
// which may take four bytes each.
func (s *Schema) maxText() int64 {
	switch {
	case s.MaxLength != nil:
		if *s.MaxLength > math.MaxInt64/4 {
			return math.MaxInt64
		}
		return 4 * max(0, *s.MaxLength) // bytes per character
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

// AsResource returns the schema with kind, apiVersion, metadata.name and metadata.generateName
// added. As in kube-apiserver, rules cannot access other metadata.
func (s *Schema) AsResource() *Schema {
	is := func(p *Schema, kind string) bool { return p != nil && p.Type == kind }
	metadata := s.Properties["metadata"]
	if is(s.Properties["kind"], "string") && is(s.Properties["apiVersion"], "string") && is(metadata, "object") &&
		is(metadata.Properties["name"], "string") && is(metadata.Properties["generateName"], "string") {
		return s
	}
	with := *s
	with.Properties = make(map[string]*Schema, len(s.Properties)+3)
	maps.Copy(with.Properties, s.Properties)
	text := &Schema{Type: "string"}
	with.Properties["kind"], with.Properties["apiVersion"] = text, text
	with.Properties["metadata"] = &Schema{Type: "object", Properties: map[string]*Schema{
		"name": metadata.capped("name", 253), "generateName": metadata.capped("generateName", 252),
	}}
	return &with
}

// capped returns the schema of a string of at most limit characters, or fewer if s limits the field
// further. s may be nil.
func (s *Schema) capped(field string, limit int64) *Schema {
	if s != nil {
		if p := s.Properties[field]; p != nil && p.MaxLength != nil {
			limit = min(limit, *p.MaxLength)
		}
	}
	return &Schema{Type: "string", MaxLength: &limit}
}
