package openapi

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// property returns the schema of a field of message m. Examples are replicas with the default 1 in
// version 3, and a list with the key name in version 2:
//
//	{"description":"…","default":1,"type":"integer","format":"int32"}
//	{"description":"…","x-…-list-type":"map","x-…-list-map-keys":["name"],
//	 "type":"array","items":{"$ref":"#/definitions/…Container"}}
func (d *definitions) property(m *schema.Message, f *schema.Field) object {
	about := object{}.withText("description", d.names.applyNaming(description(m, f)))
	about = append(about, d.mergeExtensions(f)...)
	if f.Default != nil && d.dialect.defaults {
		about = about.with("default", defaultValue(f.Default))
	}
	value, ref := d.value(m, f)
	switch f.Shape {
	case schema.List:
		about = append(about, member{"type", "array"}, member{"items", d.withValue(value, ref)})
		return addBound(about, "maxItems", f.MaxItems)
	case schema.Map:
		about = append(about, member{"type", "object"}, member{"additionalProperties", d.withValue(value, ref)})
		return addBound(about, "maxProperties", f.MaxItems)
	}
	if ref != "" {
		return d.dialect.refWith(ref, append(about, value...))
	}
	return append(about, value...)
}

func (d *definitions) withValue(value object, ref string) object {
	if ref != "" {
		return d.dialect.refWith(ref, value)
	}
	return value
}

func defaultValue(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		return object{}
	case []any:
		return []any{}
	default:
		return v
	}
}

// description returns the description of the field or of its inlined message. Fields such as
// metadata and spec have common descriptions.
func description(m *schema.Message, f *schema.Field) string {
	if f.Doc != "" || f.Type != schema.TypeMessage {
		return f.Doc
	}
	if f.Message.Name == "" && f.Shape == schema.Single && f.Message.Doc != "" {
		return f.Message.Doc
	}
	if !m.HasTypeMeta {
		return ""
	}
	switch {
	case f.Name == "metadata" && f.Message.Name == "meta.v1.ListMeta":
		return aboutListMeta
	case f.Name == "metadata":
		return aboutObjectMeta
	case f.Name == "spec":
		return aboutSpec
	case f.Name == "status":
		return aboutStatus
	}
	return ""
}

// mergeExtensions returns the extensions that describe merging, for clients that apply or diff
// locally.
func (d *definitions) mergeExtensions(f *schema.Field) object {
	var o object
	if f.Shape == schema.List {
		o = o.with(d.names.extension("list-type"), listTypes[f.ListType])
		if f.ListType == schema.ListMap {
			o = o.with(d.names.extension("list-map-keys"), f.ListMapKeys)
		}
	} else if f.MapAtomic {
		o = o.with(d.names.extension("map-type"), "atomic")
	}
	o = o.withText(d.names.extension("patch-merge-key"), f.MergeKey)
	return o.withText(d.names.extension("patch-strategy"), strings.Join(f.MergeStrategies, ","))
}

var listTypes = map[schema.ListType]string{
	schema.ListAtomic: "atomic", schema.ListSet: "set", schema.ListMap: "map",
}

// value returns the schema of a single value of a field, such as one item of a list. If the schema
// has a named definition, ref is its name, and value contains only the keywords to write next to
// the $ref, such as limits.
func (d *definitions) value(m *schema.Message, f *schema.Field) (value object, ref string) {
	if f.Type == schema.TypeMessage {
		switch {
		case f.Message.Name != "":
			return nil, d.names.message(f.Message)
		case f.Shape == schema.Single:
			return d.members(f.Message), "" // the field has the description
		}
		return d.structure(f.Message), ""
	}
	if f.Type == schema.TypeStrings {
		return object{{"type", "array"}, {"items", object{{"type", "string"}}}}, ""
	}
	if plain, ok := plainTypes[f.Type]; ok {
		return addLimits(object{}.with("type", plain.name).withText("format", plain.format), f), ""
	}
	return addLimits(nil, f), d.scalar(m, f)
}

var plainTypes = map[schema.Type]struct{ name, format string }{
	schema.TypeString: {"string", ""},
	schema.TypeBool:   {"boolean", ""},
	schema.TypeInt32:  {"integer", "int32"},
	schema.TypeInt64:  {"integer", "int64"},
	schema.TypeDouble: {"number", "double"},
	schema.TypeBytes:  {"string", "byte"},
}

func addLimits(o object, f *schema.Field) object {
	if f.Min != nil {
		o = o.with("minimum", float64(*f.Min))
	}
	if f.Max != nil {
		o = o.with("maximum", float64(*f.Max))
	}
	o = addBound(o, "minLength", f.MinLength)
	o = addBound(o, "maxLength", f.MaxLength)
	o = o.withText("pattern", f.Pattern)
	if choices := slices.Concat(f.Enum, f.DocumentedEnum); len(choices) > 0 {
		slices.Sort(choices) // they are declared in error order
		values := make([]any, len(choices))
		for i, v := range choices {
			values[i] = v
		}
		o = o.with("enum", values)
	}
	return o
}

func addBound(o object, name string, n int) object {
	if n == 0 {
		return o
	}
	return o.with(name, int64(n))
}

// scalar registers the definition of a value with a custom JSON form, such as a time, and returns
// its name, or "" for other values. A value of two types, such as int-or-string, has a single type
// in version 2.
func (d *definitions) scalar(m *schema.Message, f *schema.Field) string {
	s, ok := scalars[f.Type]
	if !ok {
		return ""
	}
	if f.Type == schema.TypeRaw {
		s = isRaw(m, f)
	}
	name := d.names.apimachinery(s.name)
	if s.any {
		name = d.names.message(&schema.Message{Name: s.name})
	}
	d.add(name, func() object {
		o := object{}.withText("description", s.description)
		switch {
		case s.any:
			return o
		case len(s.oneOf) > 0 && d.dialect.oneOf:
			var types []any
			for _, t := range s.oneOf {
				types = append(types, object{{"type", t}})
			}
			return o.withText("format", s.format).with("oneOf", types)
		}
		return o.with("type", s.typ).withText("format", s.format)
	})
	return name
}

type scalarType struct {
	name, description, typ, format string
	oneOf                          []string
	any                            bool // any JSON; name is a message name
}

var scalars = map[schema.Type]scalarType{
	schema.TypeTime:      {name: "apis.meta.v1.Time", description: "A time in RFC 3339 format, in seconds.", typ: "string", format: "date-time"},
	schema.TypeMicroTime: {name: "apis.meta.v1.MicroTime", description: "A time in RFC 3339 format, in microseconds.", typ: "string", format: "date-time"},
	schema.TypeDuration:  {name: "apis.meta.v1.Duration", description: "A duration, such as 1h30m.", typ: "string"},
	schema.TypeQuantity: {
		name: "api.resource.Quantity", typ: "string", oneOf: []string{"string", "number"},
		description: "A quantity with an optional unit: 0.5, 500m, 2Gi. The units are n, u, m, k, M, G, T, P, E for powers of ten, Ki, Mi, Gi, Ti, Pi, Ei for powers of two, and exponents such as e3.",
	},
	schema.TypeIntOrString: {
		name: "util.intstr.IntOrString", description: "An integer or a string.", typ: "string", format: "int-or-string",
		oneOf: []string{"integer", "string"},
	},
	schema.TypeFields: {
		name: "apis.meta.v1.FieldsV1", description: "A set of fields. Each name maps to the set of its subfields.", typ: "object",
	},
	schema.TypeRaw: {name: "runtime.RawExtension", description: "An arbitrary object.", typ: "object"},
}

// isRaw returns the definition of a value without declared structure: a union, arbitrary JSON in a
// CRD schema, or an arbitrary object.
func isRaw(m *schema.Message, f *schema.Field) scalarType {
	switch {
	case f.Message != nil:
		return scalarType{name: f.Message.Name, description: f.Message.Doc, any: true}
	case strings.HasPrefix(m.Name, "apiextensions."):
		version := strings.Split(m.Name, ".")[1]
		return scalarType{name: "apiextensions." + version + ".JSON", description: "An arbitrary JSON value.", any: true}
	}
	return scalars[schema.TypeRaw]
}
