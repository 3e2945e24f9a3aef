package rules

import (
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Identity identifies list items by their keys or, without keys, by their value. Indexes cannot
// identify items, because an insertion would make all later items appear changed.
type Identity struct {
	Keys     []string
	Defaults []any // defaults of Keys; may be shorter
}

// KeyFields returns an object with only the keys of an item or, without keys, the item itself.
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

func (id *Identity) key(t tree.Tree, i int) any {
	v := t[id.Keys[i]]
	if v == nil && i < len(id.Defaults) {
		return id.Defaults[i]
	}
	return v
}

// appendTo appends the identity of an item. Keys are separated by zero bytes, which JSON never
// contains, so that different identities have different bytes.
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

// Index returns the items of the previous list, keyed by identity, or nil if id is nil or there is
// no previous list. If several items have the same identity, the last one wins.
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

// Previous returns the previous value of an item. old is the Index of the previous list.
func (id *Identity) Previous(old map[string]any, item any) (was schema.Previous) {
	if old != nil {
		was.Value, was.Exists = old[string(id.appendTo(nil, item))]
	}
	return was
}

// Unique checks that the items of a list are unique.
type Unique struct {
	Identity
	// AllowEmpty allows several items whose key fields are all empty. Items without any key field
	// are always allowed.
	AllowEmpty bool
	// Once reports a repeated identity only at its second item, not at every repetition.
	Once bool
	// AtKey reports a duplicate at the path of the key field, such as ports[1].name, instead of the
	// item. It applies only to lists with a single map key.
	AtKey bool
}

func (u *Unique) Evaluate(e *schema.Evaluation, v any, _ schema.Previous) {
	list, ok := v.([]any)
	if !ok || len(list) < 2 || !e.Spend(len(list)*(1+len(u.Keys))) {
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

// hasIdentity reports whether an item has keys. Items without keys are not reported as duplicates,
// because other evaluators report the missing keys.
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
