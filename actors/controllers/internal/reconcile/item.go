package reconcile

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Item is a cached object. It keeps the object's JSON, which it shares with the store, and decodes
// it on each use. It is therefore meant for kinds with far fewer objects than Pods. Only the
// selector is kept in decoded form, because it is often matched against orphans.
type Item struct {
	Head
	object  *meta.Object
	client  Client
	selects func() selection
}

// A selection is a decoded spec.selector. It selects nothing unless ok is set.
type selection struct {
	labels selector.Labels
	ok     bool
}

// itemView returns a function that creates Items of a kind. It does not decode the objects, because
// most versions of an object are never examined.
func itemView(k Client) func(*meta.Object) *Item {
	return func(o *meta.Object) *Item {
		i := &Item{Head: NewHead(o), object: o, client: k}
		i.selects = sync.OnceValue(i.readSelector)
		return i
	}
}

// Generation returns metadata.generation.
func (i *Item) Generation() int64 { return i.object.Meta.Generation }

// Tree decodes the object. The caller owns the result.
func (i *Item) Tree() (tree.Tree, error) { return i.client.Decode(i.object) }

// ControllerReference returns an owner reference that makes the item the controller.
func (i *Item) ControllerReference() tree.Tree {
	return i.client.ControllerReference(i.Key.Name, i.UID)
}

// Items returns the shared cache of a kind. group is the same as in Env.Client.
func (e *Env) Items(group, version, kind string) *Cache[*Item] {
	k := e.Client(group, version, kind).As(Manager)
	k.Kind = k.Stored
	e.mu.Lock()
	items, _ := e.caches[k.Storage].(*Cache[*Item])
	e.mu.Unlock()
	if items == nil {
		items = NewCache(k, itemView(k))
		items.namespaces = Index[string, meta.Key, *Item]{}
	}
	return items
}

// Selects reports whether the item's selector matches the labels. An empty or invalid selector,
// which only older objects contain, selects nothing.
func (i *Item) Selects(labels meta.Labels) bool {
	s := i.selects()
	return s.ok && s.labels.Matches(labels)
}

func (i *Item) readSelector() selection {
	t, err := i.Tree()
	if err != nil {
		return selection{}
	}
	return readSelector(t.Object("spec")["selector"])
}

// readSelector decodes a label selector, or a ReplicationController's label map.
func readSelector(v any) selection {
	t, _ := v.(tree.Tree)
	if len(t) == 0 {
		return selection{}
	}
	if !t.Has("matchLabels") && !t.Has("matchExpressions") {
		t = tree.Tree{"matchLabels": t}
	}
	labels, ok := selector.FromLabelSelector(t)
	return selection{labels, ok && !labels.Empty()}
}
