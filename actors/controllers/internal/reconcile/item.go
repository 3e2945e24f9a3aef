package reconcile

import (
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/selector"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An Item is an object of a kind of which there are few, compared to Pods. It keeps the object as the store has it,
// which costs nothing as long as it is the newest, and is decoded each time that it is needed.
// The selector is read when it is first asked for and kept from then on, as orphans are matched against it often.
type Item struct {
	Head
	object  *meta.Object
	client  Client
	selects func() selection
}

// A selection is what spec.selector selects; nothing, if it is not ok.
type selection struct {
	labels selector.Labels
	ok     bool
}

// itemView makes the Items of a kind. Nothing but the head is decoded then, for most states of objects are never looked
// at.
func itemView(k Client) func(*meta.Object) *Item {
	return func(o *meta.Object) *Item {
		i := &Item{Head: NewHead(o), object: o, client: k}
		i.selects = sync.OnceValue(i.readSelector)
		return i
	}
}

// Tree decodes the object. It is the caller's to change.
func (i *Item) Tree() (tree.Tree, error) { return i.client.Decode(i.object) }

// ControllerReference returns an owner reference to an object that controls what holds it.
func (i *Item) ControllerReference() tree.Tree {
	return i.client.ControllerReference(i.Key.Name, i.UID)
}

// Items returns the cache of a kind, whose group is in platform form. All callers share it.
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

// Selects tells whether the selector of the object selects what has some labels. A selector that is empty or cannot be
// read selects nothing: validation refuses both, but objects may have been stored before it did.
func (i *Item) Selects(labels meta.Labels) bool {
	s := i.selects()
	return s.ok && s.labels.Matches(labels)
}

// readSelector reads the selector of the object; one that cannot be decoded selects nothing.
func (i *Item) readSelector() selection {
	t, err := i.Tree()
	if err != nil {
		return selection{}
	}
	return readSelector(t.Object("spec")["selector"])
}

// readSelector reads a label selector, or a map of labels as ReplicationControllers have it.
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
