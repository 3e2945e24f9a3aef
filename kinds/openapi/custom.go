package openapi

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// reachCustom registers what the definition of a custom kind refers to: the rest is in it.
func (d *definitions) reachCustom(m *schema.Message) { d.message(m.Field("metadata").Message) }

// custom is the schema of a custom kind: that of its definition, with what all objects have.
func (d *definitions) custom(m *schema.Message) object {
	root := maps.Clone(m.Custom.Schema)
	if root == nil {
		root = schema.Tree{"type": "object"}
	}
	properties := maps.Clone(rules.Sub(root, "properties"))
	if properties == nil {
		properties = schema.Tree{}
	}
	properties["apiVersion"], properties["kind"] = text(aboutAPIVersion), text(aboutKind)
	properties["metadata"] = d.dialect.refWith(d.message(m.Field("metadata").Message), object{{"description", aboutObjectMeta}})
	root["properties"] = properties
	o := d.dialect.custom(root)
	if gvks := d.served(m); len(gvks) > 0 {
		o = o.with(d.names.extension("group-version-kind"), gvks)
	}
	return o
}

// newerOnly are the keys of a schema that version 2 does not have.
var newerOnly = []string{"default", "nullable", "oneOf", "anyOf", "allOf", "not"}

// custom is a schema of a definition as a version of OpenAPI can say it.
func (d dialect) custom(s schema.Tree) object {
	if !d.newer && rules.Flag(s, "nullable") {
		return object{}.withText("description", rules.Text(s, "description"))
	}
	var o object
	for _, key := range rules.Keys(s) {
		v := s[key]
		switch key {
		case "properties":
			properties := object{}
			for _, name := range rules.Keys(rules.Sub(s, key)) {
				properties = append(properties, member{name, d.customValue(rules.Sub(s, key)[name])})
			}
			o = o.with(key, properties)
		case "additionalProperties":
			if allows, plain := v.(bool); !plain || allows {
				more, _ := v.(schema.Tree)
				o = o.with(key, d.custom(more))
			}
		case "items", "not":
			if d.newer || key == "items" {
				o = o.with(key, d.customValue(v))
			}
		case "allOf", "anyOf", "oneOf":
			if d.newer {
				o = o.with(key, d.customList(v))
			}
		default:
			if d.newer || !slices.Contains(newerOnly, key) {
				o = o.with(key, plain(v))
			}
		}
	}
	return o
}

func (d dialect) customValue(v any) any {
	if s, ok := v.(schema.Tree); ok {
		return d.custom(s)
	}
	return v // made already
}

func (d dialect) customList(v any) []any {
	list, _ := v.([]any)
	out := make([]any, len(list))
	for i := range list {
		out[i] = d.customValue(list[i])
	}
	return out
}

// plain is a value of a tree as documents have it.
func plain(v any) any {
	switch v := v.(type) {
	case schema.Tree:
		o := object{}
		for _, key := range rules.Keys(v) {
			o = append(o, member{key, plain(v[key])})
		}
		return o
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	}
	return v
}
