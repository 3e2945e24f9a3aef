package rules

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Identity distinguishes the elements of a list: by the values of their keys or, without keys, by their whole value.
//
// Two versions of a list are compared by it, to tell which element is new, which has changed and which was
// moved; an index would make every element behind a new one look changed.
type Identity struct {
	Keys     []string
	Defaults []any // of the keys, or nil; shorter where there are none
}

// KeyFields is the identity of an element: an object of its keys, or the element itself.
func (id *Identity) KeyFields(item any) any {
	t, ok := item.(tree.Tree)
	if len(id.Keys) == 0 || !ok {
		return item
	}
	keys := make(tree.Tree, len(id.Keys))
	for i, name := range id.Keys {
		if v := id.key(t, i); v != nil {
			keys[name] = v
		}
	}
	return keys
}

// key is the value of one key of an element.
func (id *Identity) key(t tree.Tree, i int) any {
	v := t[id.Keys[i]]
	if v == nil && i < len(id.Defaults) {
		return id.Defaults[i]
	}
	return v
}

// appendTo appends the identity of an element as text.
//
// Values of several keys are separated by a zero byte, which JSON text never has, so different keys have
// different texts.
func (id *Identity) appendTo(b []byte, item any) []byte {
	t, ok := item.(tree.Tree)
	if len(id.Keys) == 0 || !ok {
		return codec.AppendAny(b, item)
	}
	for i := range id.Keys {
		if v := id.key(t, i); v != nil {
			b = codec.AppendAny(b, v)
		}
		b = append(b, 0)
	}
	return b
}

// Index maps the elements of the previous list by their identity; nil if id is nil, or there was no list.
//
// Of elements with the same identity the last one is found.
func (id *Identity) Index(was schema.Previous) map[string]any {
	if id == nil || !was.Exists {
		return nil
	}
	items, _ := was.Value.([]any)
	old := make(map[string]any, len(items))
	for _, item := range items {
		old[string(id.appendTo(nil, item))] = item
	}
	return old
}

// Previous finds the previous value of an element in the Index of the previous list.
func (id *Identity) Previous(old map[string]any, item any) (was schema.Previous) {
	if old != nil {
		was.Value, was.Exists = old[string(id.appendTo(nil, item))]
	}
	return was
}

// Unique checks that a list holds no element twice.
type Unique struct {
	Identity
	// AllowEmpty: elements whose keys are all empty may repeat; else those that have none of the keys.
	AllowEmpty bool
	// Once: each identity that repeats is reported once, at its second element; else every repetition.
	Once bool
	// AtKey: the repetition of a single key is reported at that key.
	AtKey bool
}

// Evaluate implements schema.Evaluator.
func (u *Unique) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	list, ok := v.([]any)
	if !ok || len(list) < 2 {
		return
	}
	seen := make(map[string]int, len(list))
	var id []byte
	for i, item := range list {
		if !u.hasIdentity(item) {
			continue
		}
		id = u.appendTo(id[:0], item)
		seen[string(id)]++
		if n := seen[string(id)]; n > 1 && (n == 2 || !u.Once) {
			u.report(e, i, item)
		}
	}
}

// hasIdentity tells whether an element has keys. That one lacks them is a fault that other evaluators report.
//
// Two elements without keys would otherwise be reported as duplicates of each other, beside the fault that
// matters.
func (u *Unique) hasIdentity(item any) bool {
	if len(u.Keys) == 0 {
		return true
	}
	t, ok := item.(tree.Tree)
	if !ok {
		return false
	}
	for i := range u.Keys {
		if v := u.key(t, i); v != nil && !(u.AllowEmpty && tree.IsEmpty(v)) {
			return true
		}
	}
	return false
}

// For a list with the key name it is, for instance, spec.ports[1].name: Duplicate value: "http".
func (u *Unique) report(e *schema.Evaluation, i int, item any) {
	back := e.EnterItem(i)
	t, _ := item.(tree.Tree)
	if u.AtKey && len(u.Keys) == 1 {
		e.Duplicate(e.PathOf(u.Keys[0]), t[u.Keys[0]])
	} else {
		e.Duplicate(e.Path(), u.KeyFields(item))
	}
	e.Leave(back)
}
