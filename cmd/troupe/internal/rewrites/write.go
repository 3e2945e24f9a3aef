package rewrites

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/cmd/troupe/internal/client/document"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Write is a change and its author.
type Write struct {
	actors.Change
	Object, Previous tree.Tree // Previous is nil for a create
	Manager          string    // "" if unknown
	Fields           []Field   // the changed fields that have a manager, sorted by path
}

// A Field is a changed field. Before and After are JSON, or "" if the field was absent.
type Field struct{ Path, Before, After string }

// NewWrite decodes a change, and determines its manager and fields.
func NewWrite(c actors.Change) (Write, error) {
	w := Write{Change: c}
	var err error
	if w.Object, err = document.Parse(c.Object.JSON); err != nil {
		return w, err
	}
	if c.Previous != nil {
		if w.Previous, err = document.Parse(c.Previous.JSON); err != nil {
			return w, err
		}
	}
	if c.Verb != "delete" {
		w.findManager()
	}
	return w, nil
}

// Manager returns the manager of the change from previous, which is nil for a create, to object, or
// "" if it is unknown.
func Manager(previous, object tree.Tree) string {
	w := Write{Previous: previous, Object: object}
	w.findManager()
	return w.Manager
}

// StatusOnly reports whether only the status has changed.
func (w *Write) StatusOnly() bool {
	return len(w.Fields) > 0 && !slices.ContainsFunc(w.Fields, func(f Field) bool { return f.Path != ".status" && !isBelow(f.Path, ".status") })
}

// findManager finds the changed fields and their manager. It prefers the entry that owns most of
// these fields, and then an entry with a new time.
func (w *Write) findManager() {
	before, after := entries(w.Previous), entries(w.Object)
	changed := map[string]Field{}
	owned := make([]map[string]Field, len(after))
	for i, e := range after {
		owned[i] = map[string]Field{}
		compareOwned(e.Object("fieldsV1"), w.Previous, w.Object, "", owned[i])
		maps.Copy(changed, owned[i])
	}
	for _, e := range before { // removed fields
		compareOwned(e.Object("fieldsV1"), w.Previous, w.Object, "", changed)
	}
	for _, path := range slices.Sorted(maps.Keys(changed)) {
		if last := len(w.Fields) - 1; last >= 0 && isBelow(path, w.Fields[last].Path) {
			w.Fields = w.Fields[:last] // its owner owns the field itself, but not what is in it
		}
		w.Fields = append(w.Fields, changed[path])
	}
	best := 0
	for i, e := range after {
		score := 0
		for _, f := range w.Fields {
			if _, ok := owned[i][f.Path]; ok {
				score += 2
			}
		}
		if !slices.ContainsFunc(before, func(old tree.Tree) bool { return sameManager(old, e) && old["time"] == e["time"] }) {
			score++
		}
		if score > best {
			best, w.Manager = score, e.String("manager")
		}
	}
}

func isBelow(path, parent string) bool {
	rest, ok := strings.CutPrefix(path, parent)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[')
}

func entries(object tree.Tree) []tree.Tree { return object.Object("metadata").Objects("managedFields") }

func sameManager(a, b tree.Tree) bool {
	return a["manager"] == b["manager"] && a["operation"] == b["operation"] && a["subresource"] == b["subresource"]
}

// compareOwned collects the changed leaves of a FieldsV1 set in into.
func compareOwned(set tree.Tree, before, after any, path string, into map[string]Field) {
	for element, below := range set {
		if element == "." {
			continue
		}
		b, a, at := child(before, element), child(after, element), path+pathText(element)
		if tree.StrictEqual(b, a) {
			continue
		}
		if below, _ := below.(tree.Tree); len(below) > 0 && a != nil && b != nil {
			compareOwned(below, b, a, at, into)
			continue
		}
		into[at] = Field{at, text(b), text(a)}
	}
}

func pathText(element string) string {
	if element[:2] == "f:" {
		return "." + element[2:]
	}
	return "[" + element[2:] + "]"
}

// child returns the value at an element of a FieldsV1 path, or nil.
func child(v any, element string) any {
	kind, name := element[:2], element[2:]
	if kind == "f:" {
		object, _ := v.(tree.Tree)
		return object[name]
	}
	key, err := tree.Decode([]byte(name))
	items, _ := v.([]any)
	i := slices.IndexFunc(items, func(item any) bool {
		keys, ok := key.(tree.Tree)
		if kind != "k:" || !ok {
			return tree.JSONEqual(item, key)
		}
		object, _ := item.(tree.Tree)
		for name, v := range keys {
			if !tree.JSONEqual(object[name], v) {
				return false
			}
		}
		return true
	})
	if err != nil || i < 0 {
		return nil
	}
	return items[i]
}

func text(v any) string {
	if v == nil {
		return ""
	}
	return string(document.JSON(v))
}
