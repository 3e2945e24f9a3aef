package apiextensions

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// lists checks a list's type and map keys, which determine how server-side apply merges the list.
// Set items are merged by value and map items by key, so values and keys must be comparable.
func (w schemaValidator) lists(s tree.Tree, path string) {
	kind, typed := s[w.keys.ListType].(string)
	item, single := s["items"].(tree.Tree)
	keys := s.Strings(w.keys.ListKeys)
	if len(keys) > 0 && kind != "map" {
		const msg = "must be map if "
		switch at := path + "." + w.keys.ListType; {
		case !typed:
			w.faults.Required(at, msg+w.keys.ListKeys+" is non-empty")
		default:
			w.faults.Invalid(at, kind, msg+w.keys.ListKeys+" is non-empty")
		}
	}
	switch {
	case kind == "set" && single && s.String("type") == "array":
		w.setItem(item, path+".items")
	case kind == "map":
		w.mapItems(s, keys, path)
	}
	if (kind == "set" || kind == "map") && item.Bool("nullable") {
		w.faults.Forbidden(path+".items.nullable", "cannot be nullable when "+w.keys.ListType+" is "+kind)
	}
}

// setItem checks the item schema of a list of type set. If the items are lists or objects, these
// must be atomic. Lists are atomic by default, whereas objects are granular by default.
func (w schemaValidator) setItem(item tree.Tree, path string) {
	msg := "must be atomic as item of a list with " + w.keys.ListType + "=set"
	switch item.String("type") {
	case "array":
		if v, ok := item[w.keys.ListType].(string); ok && v != "atomic" {
			w.faults.Invalid(path+"."+w.keys.ListType, v, msg)
		}
	case "object":
		if v, _ := item[w.keys.MapType].(string); v != "atomic" {
			w.faults.Invalid(path+"."+w.keys.MapType, item[w.keys.MapType], msg)
		}
	}
}

// mapItems requires the items of a list of type map to be objects. Each map key must be a scalar
// property that is required or has a default.
func (w schemaValidator) mapItems(s tree.Tree, keys []string, path string) {
	suffix := w.keys.ListType + " is map"
	if len(keys) == 0 {
		w.faults.Required(path+"."+w.keys.ListKeys, "must not be empty if "+suffix)
	}
	item, ok := s["items"].(tree.Tree)
	switch kind := item.String("type"); {
	case s["items"] == nil:
		w.faults.Required(path+".items", "must have a schema if "+suffix)
		return
	case !ok:
		w.faults.Invalid(path+".items", s["items"], "must only have a single schema if "+suffix)
		return
	case kind != "object":
		w.faults.Invalid(path+".items.type", kind, "must be object if parent array's "+suffix)
		return
	}
	seen := rules.Seen{}
	for _, key := range keys {
		property, ok := item.Object("properties")[key].(tree.Tree)
		if !ok {
			w.faults.Invalid(path+"."+w.keys.ListKeys, keys, "entries must all be names of item properties")
		} else {
			w.mapKey(item, property, key, path)
		}
		if seen.Repeats(key) {
			w.faults.Invalid(path+"."+w.keys.ListKeys, keys, "must not contain duplicate entries")
		}
	}
}

// mapKey checks one map key. Every item must have a value for the key after defaulting.
func (w schemaValidator) mapKey(item, property tree.Tree, key, path string) {
	at := tree.KeyPath(path+".items.properties", key)
	if kind := property.String("type"); kind == "array" || kind == "object" {
		w.faults.Invalid(at+".type", kind, "must be a scalar type if parent array's "+w.keys.ListType+" is map")
	}
	about := "this property is in " + w.keys.ListKeys + ", so it "
	if !slices.Contains(item.Strings("required"), key) && !property.Has("default") {
		w.faults.Required(at+".default", about+"must have a default or be a required property")
	}
	if property.Bool("nullable") {
		w.faults.Forbidden(at+".nullable", about+"cannot be nullable")
	}
}
