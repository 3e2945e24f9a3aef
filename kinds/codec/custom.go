package codec

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// For custom kinds (schema.Custom), the plan describes only the metadata. The CRD's schema prunes
// other unknown fields after decoding, because other values may decide whether a field is kept.

func isMetaField(f *schema.Field) bool {
	return f != nil && (f.Name == "metadata" || f.Name == "kind" || f.Name == "apiVersion")
}

// custom decodes an object of a custom kind, including unknown fields and values of any type.
// Schema validation reports wrong types, because a schema may allow several.
func (d *decoder) custom(m *schema.Message) (tree.Tree, error) {
	if err := d.Open(); err != nil {
		return nil, err
	}
	object := make(tree.Tree)
	for first := true; ; first = false {
		key, more, err := d.Key(first)
		if err != nil {
			return nil, err
		}
		if !more {
			return object, nil
		}
		var v any
		if f := fieldOf(m, key, true); isMetaField(f) {
			d.pushField(m, f)
			v, err = d.field(f)
		} else {
			d.pushKey(key)
			v, err = d.any()
		}
		d.pop()
		if err != nil {
			return nil, err
		}
		before := len(object)
		if object[key] = v; len(object) == before {
			d.duplicate(key)
		}
	}
}

// pruneUnknown removes unknown fields from a custom object and reports them as faults. The schema
// and the metadata of embedded objects define the known fields.
func pruneUnknown(m *schema.Message, object tree.Tree, faults []FieldFault, isConfig bool) (tree.Tree, []FieldFault, error) {
	prune := m.Custom.Prune
	if isConfig {
		prune = m.Custom.PruneConfig
	}
	object, unknown := prune(object)
	if m.Custom.Coerce != nil {
		coerced, more, err := m.Custom.Coerce(object, false)
		if err != nil {
			return nil, nil, typeError(err.Error())
		}
		object, unknown = coerced, append(unknown, more...)
	}
	for _, path := range unknown {
		if len(faults) >= maxFaults {
			break
		}
		faults = append(faults, FieldFault{Path: path})
	}
	return object, faults, nil
}

func (c *conformer) custom(m *schema.Message, object tree.Tree) tree.Tree {
	c.enter()
	defer c.leave()
	edit := tree.CopyOnWrite{From: object}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		v := object[key]
		if f := fieldOf(m, key, true); isMetaField(f) {
			c.pushField(m, f)
			replace(&edit, key, v, c.field(f, v))
			c.pop()
			continue
		}
		if v == nil || c.base != nil && tree.SameRef(v, c.base[key]) {
			continue
		}
		c.pushKey(key)
		replace(&edit, key, v, c.raw(v))
		c.pop()
	}
	if out := edit.Copy(); out != nil && out["metadata"] == nil {
		delete(out, "metadata")
	}
	return edit.Result()
}

// customValue encodes a custom object. Unlike the encoder for built-in kinds, it copies kind,
// apiVersion and resourceVersion from the tree and adds nothing.
func (e *encoder) customValue(m *schema.Message, t tree.Tree) {
	e.raw("{")
	for _, f := range m.Fields {
		if v := t[f.Name]; v != nil && isMetaField(f) {
			e.member(f, v)
		}
	}
	for _, f := range typeMeta {
		name := f.Name
		if v := t[name]; v != nil {
			e.comma()
			e.text(name)
			e.raw(":")
			e.any(v)
		}
	}
	e.custom(t)
	e.raw("}")
}

func (e *encoder) comma() {
	if e.b[len(e.b)-1] != '{' {
		e.raw(",")
	}
}

// custom encodes the fields other than metadata, sorted by name, so that equal objects have equal
// bytes.
func (e *encoder) custom(t tree.Tree) {
	var space [16]string
	for _, key := range sortedKeys(space[:0], t) {
		switch key {
		case "kind", "apiVersion", "metadata":
			continue
		}
		e.comma()
		e.text(key)
		e.raw(":")
		e.any(t[key])
	}
}
