package api

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// If an apply empties an object or list, this server stores the empty value immediately. The oracle
// stores it only at the next apply, so these functions add it to the oracle's object.

// explicit adds the empty objects and lists in config to a custom resource.
func explicit(s shape, object, config map[string]any) {
	fields, _ := s["properties"].(shape)
	more, _ := s["additionalProperties"].(shape)
	for name, v := range config {
		below, declared := fields[name].(shape)
		if !declared {
			below = more
		}
		switch v := v.(type) {
		case map[string]any:
			x, isObject := object[name].(map[string]any)
			if isObject {
				explicit(below, x, v)
			} else if object[name] == nil && len(v) == 0 {
				object[name] = v
			}
		case []any:
			if object[name] == nil && len(v) == 0 {
				object[name] = v
			}
			x, _ := object[name].([]any)
			if below[listType] != "map" {
				continue
			}
			for _, item := range v {
				wanted := item.(map[string]any)
				i := slices.IndexFunc(x, func(item any) bool { return item.(map[string]any)["name"] == wanted["name"] })
				if i >= 0 {
					explicit(below["items"].(shape), x[i].(map[string]any), wanted)
				}
			}
		}
	}
}

// withExplicit adds the empty objects and lists in config to an object of a built-in kind.
func (s *ownershipComparison) withExplicit(w ownershipEndpoint, o runtime.Object, config tree.Tree) runtime.Object {
	s.t.Helper()
	stored, _ := s.tree(s.kind, o.DeepCopyObject())
	whole := tree.Clone(toServed(w.kind, stored)).(tree.Tree)
	if !explicitFields(w.kind.Message(), whole, config) {
		return o
	}
	made := s.object(s.kind, w.mergeWritable(stored, toStored(w.kind, whole)))
	made.(metav1.Object).SetManagedFields(o.(metav1.Object).GetManagedFields())
	return made
}

// explicitFields is like explicit, but for built-in kinds. It reports whether it set any field.
func explicitFields(m *schema.Message, object, config tree.Tree) (set bool) {
	for name, v := range config {
		f := m.Field(name)
		switch v := v.(type) {
		case tree.Tree:
			x, isObject := object[name].(tree.Tree)
			if isObject && f.Type == schema.TypeMessage && f.Shape == schema.Single {
				set = explicitFields(f.Message, x, v) || set
			} else if object[name] == nil && len(v) == 0 {
				object[name], set = v, true
			}
		case []any:
			if f.ListType != schema.ListMap {
				continue
			}
			for _, item := range v {
				for _, x := range object.Objects(name) {
					if !slices.ContainsFunc(f.ListMapKeys, func(key string) bool { return x[key] != item.(tree.Tree)[key] }) {
						set = explicitFields(f.Message, x, item.(tree.Tree)) || set
					}
				}
			}
		}
	}
	return set
}
