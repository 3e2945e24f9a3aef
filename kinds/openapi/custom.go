package openapi

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func (d *definitions) customKind(k *schema.Kind) string {
	name := d.names.kind(k)
	if d.add(name, func() object { return d.custom(k) }) {
		d.message(d.objectMeta)
	}
	return name
}

// custom returns the schema of a custom kind with the fields that all objects have. In version 2,
// schemas that preserve unknown fields list no properties, because clients would treat them as
// exhaustive.
func (d *definitions) custom(k *schema.Kind) object {
	root := k.Origin.Schema.Tree()
	open := len(root) == 0 || root.Bool(d.names.extension("preserve-unknown-fields"))
	var o object
	if open && (!d.dialect.v3 || len(root) == 0) {
		o = object{{"type", "object"}}
	} else {
		o = d.customObject(root, d.metadata(d.objectMeta))
	}
	return d.withSelectableFields(o.with(d.names.extension("group-version-kind"), []any{gvkObject(k.GroupVersionKind)}), k)
}

// withSelectableFields adds the selectable fields of a custom kind. Fields without a name are
// selectable only in other versions and are skipped.
func (d *definitions) withSelectableFields(o object, k *schema.Kind) object {
	if !k.IsCustom() {
		return o
	}
	var fields []any
	for _, f := range k.SelectFields {
		if f.Name != "" {
			fields = append(fields, object{{"fieldPath", f.Name}})
		}
	}
	if len(fields) == 0 {
		return o
	}
	return o.with(d.names.extension("selectable-fields"), fields)
}

func (d *definitions) metadata(objectMeta *schema.Message) tree.Tree {
	return tree.Tree{
		"apiVersion": text(aboutAPIVersion), "kind": text(aboutKind),
		"metadata": d.dialect.refWith(d.message(objectMeta), object{{"description", aboutObjectMeta}}),
	}
}

// customObject returns the OpenAPI form of s with the common properties. It copies only the levels
// that it changes, because s is shared.
func (d *definitions) customObject(s, common tree.Tree) object {
	properties := maps.Clone(s.Object("properties"))
	if properties == nil {
		properties = tree.Tree{}
	}
	maps.Copy(properties, common)
	s = maps.Clone(s)
	s["properties"] = properties
	c := customSchemas{definitions: d, common: common}
	return c.schema(s)
}

// customSchemas writes the schemas of one CRD. It adds the common properties to embedded objects at
// any depth.
type customSchemas struct {
	*definitions
	common tree.Tree
}

var v3Keywords = []string{"oneOf", "anyOf", "allOf", "not", "nullable"}

// schema returns the part of a schema that the OpenAPI version can express. For example,
// {"type":"integer","nullable":true} is unchanged in version 3 and becomes {} in version 2.
func (c customSchemas) schema(s tree.Tree) object {
	if c.dialect.v3 {
		s = c.forV3(s)
	} else {
		s = c.forV2(s)
	}
	var o object
	for _, key := range s.SortedKeys() {
		v := s[key]
		switch key {
		case "properties":
			properties := object{}
			for _, name := range s.Object(key).SortedKeys() {
				properties = append(properties, member{name, c.value(s.Object(key)[name])})
			}
			o = o.with(key, properties)
		case "additionalProperties":
			if allows, plain := v.(bool); !plain || allows {
				more, _ := v.(tree.Tree)
				o = o.with(key, c.schema(more))
			}
		case "items", "not":
			o = o.with(key, c.value(v))
		case "allOf", "anyOf", "oneOf":
			o = o.with(key, c.list(v))
		default:
			o = o.with(key, plain(v))
		}
	}
	return o
}

func (c customSchemas) forV3(s tree.Tree) tree.Tree {
	if s.Bool(c.names.extension("int-or-string")) && s["anyOf"] == nil && !c.hasAnyOfInAllOf(s) {
		s = maps.Clone(s)
		s["anyOf"] = []any{tree.Tree{"type": "integer"}, tree.Tree{"type": "string"}}
	}
	return c.embedded(s)
}

func (c customSchemas) hasAnyOfInAllOf(s tree.Tree) bool {
	all := s.Objects("allOf")
	return len(all) > 0 && all[0]["anyOf"] != nil
}

func (c customSchemas) embedded(s tree.Tree) tree.Tree {
	if !s.Bool(c.names.extension("embedded-resource")) {
		return s
	}
	s = maps.Clone(s)
	properties := maps.Clone(s.Object("properties"))
	if properties == nil {
		properties = tree.Tree{}
	}
	maps.Copy(properties, c.common)
	s["properties"] = properties
	required := slices.Clone(s.Strings("required"))
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	s["required"] = required
	return s
}

// forV2 omits keywords that version 2 cannot express or that its clients misinterpret. It drops the
// properties and items of nullable values and of values that preserve unknown fields. Otherwise,
// clients that validate by version 2, such as older kubectl, would reject null for a typed or
// required field.
func (c customSchemas) forV2(s tree.Tree) tree.Tree {
	open, nullable := s.Bool(c.names.extension("preserve-unknown-fields")), s.Bool("nullable")
	s = maps.Clone(s)
	for _, key := range v3Keywords {
		delete(s, key)
	}
	if open || nullable {
		delete(s, "items")
		delete(s, "properties")
	}
	if nullable || open && s["type"] == "object" || s["items"] == nil && s["type"] == "array" {
		delete(s, "type")
	}
	var required []string
	properties := s.Object("properties")
	for _, name := range s.Strings("required") {
		if p, _ := properties[name].(tree.Tree); !p.Bool("nullable") {
			required = append(required, name)
		}
	}
	if more, _ := s["additionalProperties"].(tree.Tree); more.Bool("nullable") {
		required = nil
	}
	if delete(s, "required"); len(required) > 0 {
		s["required"] = required
	}
	if open {
		return s
	}
	return c.embedded(s)
}

func (c customSchemas) value(v any) any {
	if s, ok := v.(tree.Tree); ok {
		return c.schema(s)
	}
	return v // already converted
}

func (c customSchemas) list(v any) []any {
	list, _ := v.([]any)
	out := make([]any, len(list))
	for i := range list {
		out[i] = c.value(list[i])
	}
	return out
}

func plain(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		o := object{}
		for _, key := range v.SortedKeys() {
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
