package api

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
)

// SchemaGenerator generates and modifies random schemas of custom resources, and generates
// matching values. It chooses from few names and values, so that applied values often conflict.
type SchemaGenerator struct{ *rand.Rand }

type shape = map[string]any

func (r SchemaGenerator) word() string { return string(rune('a' + r.Intn(3))) }

func (r SchemaGenerator) Root() shape {
	root := shape{"type": "object", "properties": shape{"spec": r.object(3), "data": r.shape(2), "more": r.shape(3)}}
	if r.Intn(4) == 0 {
		root[preserve] = true
	}
	return root
}

const (
	preserve = "x-kubernetes-preserve-unknown-fields"
	embedded = "x-kubernetes-embedded-resource"
	anyPort  = "x-kubernetes-int-or-string"
	listType = "x-kubernetes-list-type"
	listKeys = "x-kubernetes-list-map-keys"
	mapType  = "x-kubernetes-map-type"
)

func (r SchemaGenerator) shape(depth int) shape {
	if depth == 0 {
		return []shape{{"type": "string"}, {"type": "integer"}, {anyPort: true}, {preserve: true}}[r.Intn(4)]
	}
	switch r.Intn(9) {
	case 0:
		return r.shape(0)
	case 1:
		return r.withListType(shape{"type": "array", "items": shape{"type": "string"}})
	case 2, 3:
		item := r.object(depth - 1)
		item["properties"].(shape)["name"] = shape{"type": "string"}
		item["required"] = []any{"name"}
		return r.withListType(shape{"type": "array", "items": item})
	case 4:
		return r.withListType(shape{"type": "object", "additionalProperties": r.shape(depth - 1)})
	case 5:
		return r.withListType(shape{"type": "object", preserve: true})
	case 6:
		return shape{"type": "object", preserve: true, embedded: true}
	case 7:
		return shape{preserve: true}
	}
	return r.object(depth)
}

func (r SchemaGenerator) object(depth int) shape {
	fields := shape{}
	for range 1 + r.Intn(3) {
		fields[r.word()] = r.shape(depth - 1)
	}
	s := shape{"type": "object", "properties": fields}
	if r.Intn(3) == 0 {
		s[preserve] = true
	}
	return r.withListType(s)
}

// withListType returns a copy of a schema with a random list type or map type.
func (r SchemaGenerator) withListType(s shape) shape {
	s = maps.Clone(s)
	delete(s, listType)
	delete(s, listKeys)
	delete(s, mapType)
	if s["type"] == "object" {
		if r.Intn(3) == 0 {
			s[mapType] = "atomic"
		}
		return s
	}
	switch items := s["items"].(shape); {
	case r.Intn(3) == 0:
	case items["type"] == "string":
		s[listType] = "set"
	case items["type"] == "object" && items["required"] != nil:
		s[listType], s[listKeys] = "map", []any{"name"}
	}
	return s
}

// ChangeListTypes returns a copy of a root schema with some list types and map types changed.
func (r SchemaGenerator) ChangeListTypes(root shape) shape {
	out := r.change(root)
	delete(out, mapType) // the public implementation does not support an atomic root
	return out
}

func (r SchemaGenerator) change(s shape) shape {
	out := s
	if (s["type"] == "array" || s["type"] == "object" && s[embedded] == nil) && !untyped(s) && r.Intn(3) == 0 {
		out = r.withListType(s)
	}
	out = maps.Clone(out)
	if fields, ok := s["properties"].(shape); ok {
		changed := shape{}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			changed[name] = r.change(fields[name].(shape))
		}
		out["properties"] = changed
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if below, ok := s[name].(shape); ok {
			out[name] = r.change(below)
		}
	}
	return out
}

// untyped reports whether the oracle keeps the managed fields when this schema's map type changes.
// It then misses conflicts that this server finds.
func untyped(s shape) bool {
	values, is := s["additionalProperties"].(shape)
	return s["properties"] == nil && (s[preserve] != nil || is && values["type"] == nil)
}

// Value returns a random value that matches a schema, or nil to omit the field.
func (r SchemaGenerator) Value(s shape, depth int) any {
	switch {
	case s[embedded] != nil:
		return r.embedded()
	case s[anyPort] != nil:
		return []any{"a", "b", int64(1), int64(2)}[r.Intn(4)]
	}
	switch s["type"] {
	case "string":
		return r.word()
	case "integer":
		return int64(r.Intn(3))
	case "array":
		return r.list(s, depth)
	case "object":
		return r.fields(s, depth)
	}
	return r.anything(2)
}

func (r SchemaGenerator) fields(s shape, depth int) any {
	out := map[string]any{}
	fields, _ := s["properties"].(shape)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if r.Intn(3) > 0 || name == "name" {
			if v := r.Value(fields[name].(shape), depth+1); v != nil {
				out[name] = v
			}
		}
	}
	more, ok := s["additionalProperties"].(shape)
	if !ok && s[preserve] != nil {
		more = shape{preserve: true}
	}
	for range r.Intn(3) {
		if name := r.word(); more != nil && fields[name] == nil {
			out[name] = r.Value(more, depth+1)
		}
	}
	return out
}

func (r SchemaGenerator) list(s shape, depth int) any {
	out, seen := []any{}, map[string]bool{}
	for range r.Intn(4) {
		v := r.Value(s["items"].(shape), depth+1)
		id := fmt.Sprint(v)
		if item, ok := v.(map[string]any); ok {
			id = fmt.Sprint(item["name"])
		}
		if !seen[id] {
			out, seen[id] = append(out, v), true
		}
	}
	return out
}

func (r SchemaGenerator) anything(depth int) any {
	if depth == 0 {
		return []any{"a", "b", int64(1), true, 1.5}[r.Intn(5)]
	}
	switch r.Intn(3) {
	case 0:
		return r.anything(0)
	case 1:
		out := []any{}
		for range r.Intn(3) {
			out = append(out, r.anything(depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range r.Intn(3) {
		out[r.word()] = r.anything(depth - 1)
	}
	return out
}

func (r SchemaGenerator) embedded() any {
	metadata := map[string]any{"name": r.word()}
	if r.Intn(2) == 0 {
		metadata["labels"] = map[string]any{r.word(): r.word()}
	}
	if r.Intn(3) == 0 {
		metadata["finalizers"] = []any{"f/" + r.word()}
	}
	if r.Intn(3) == 0 {
		metadata["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "K", "name": r.word(), "uid": r.word()}}
	}
	out := map[string]any{"apiVersion": "v1", "kind": "K", "metadata": metadata}
	if r.Intn(2) == 0 {
		out["spec"] = r.anything(2)
	}
	return out
}
