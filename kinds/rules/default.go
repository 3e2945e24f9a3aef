package rules

import (
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Default fills in what t leaves out: the defaults of the plan, then those of the
// kind's function, which may depend on several fields.
func Default(k *schema.Kind, t tree.Tree) {
	if k.Message != nil && !k.Custom() {
		defaultMessage(k.Message, t)
	}
	if k.Rules.Default != nil {
		k.Rules.Default(t)
	}
}

func defaultMessage(m *schema.Message, t tree.Tree) {
	for _, f := range m.Defaultable() {
		v := t[f.Name]
		if f.Default != nil && absent(f, v) {
			v = tree.Clone(f.Default)
			t[f.Name] = v
		}
		switch {
		case f.Type == schema.TypeQuantity:
			if v == nil && f.EmitEmpty && !f.Pointer && f.Shape == schema.Single {
				t[f.Name] = "0" // which is what readers find
			}
		case f.Type != schema.TypeMessage:
		case v != nil:
			forEachMessage(f, v, func(sub tree.Tree) { defaultMessage(f.Message, sub) })
		case f.EmitEmpty && !f.Pointer && f.Shape == schema.Single:
			defaultAbsent(f, t)
		}
	}
}

// defaultAbsent fills in an object that is left out although it is always there: where it
// has defaults, they hold.
func defaultAbsent(f *schema.Field, t tree.Tree) {
	sub := tree.Tree{}
	if defaultMessage(f.Message, sub); len(sub) > 0 {
		t[f.Name] = sub
	}
}

// absent tells whether a value counts as not given.
func absent(f *schema.Field, v any) bool {
	if v == nil {
		return true
	}
	return !f.Pointer && f.Shape == schema.Single && f.Type != schema.TypeMessage && tree.IsEmpty(v)
}

// forEachMessage calls do for every object that the value of a message field holds.
func forEachMessage(f *schema.Field, v any, do func(tree.Tree)) {
	switch f.Shape {
	case schema.Single:
		if sub, ok := v.(tree.Tree); ok {
			do(sub)
		}
	case schema.List:
		items, _ := v.([]any)
		for _, e := range items {
			if sub, ok := e.(tree.Tree); ok {
				do(sub)
			}
		}
	case schema.Map:
		entries, _ := v.(tree.Tree)
		for _, e := range entries {
			if sub, ok := e.(tree.Tree); ok {
				do(sub)
			}
		}
	}
}
