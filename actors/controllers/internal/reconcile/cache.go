package reconcile

import (
	"context"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// A Head is what a cache knows of every object.
// Version is the resourceVersion as a number, by which states of an object are ordered. Key and UID together say which
// object it is: a key may be used again after a delete, a uid is not.
type Head struct {
	Key         meta.Key
	UID         string
	Version     uint64
	Labels      meta.Labels
	Controller  *meta.OwnerReference // the owner that controls it; nil for none
	Terminating bool
}

// Ref is the head itself, for the caches.
func (h *Head) Ref() *Head { return h }

// NewHead copies the head of an object, so that it does not keep the JSON of the object in memory.
func NewHead(o *meta.Object) Head {
	own := o.Meta.Clone()
	return Head{Key: o.Key, UID: own.UID, Version: o.Version, Labels: own.Labels, Terminating: own.Terminating, Controller: ControllerOf(&own)}
}

// Object returns an object for calls of a Client that name it, in its version.
func (h *Head) Object() *meta.Object {
	return &meta.Object{Key: h.Key, Version: h.Version, Meta: meta.ObjectMeta{UID: h.UID}}
}

// AnyVersion is Object in whatever version it has by then.
func (h *Head) AnyVersion() *meta.Object {
	o := h.Object()
	o.Version = 0
	return o
}

// Cached is a view of an object, such as an *Item.
type Cached interface {
	comparable
	Ref() *Head
}

// A Cache holds a view of the latest state of each object of a kind. It is safe for concurrent use; the views that it
// hands out never change.
// No lock is held while handlers run, for they call methods of this cache and of others. So handlers may run at the same
// time, and out of order; what they were told is only a reason to look, and what holds is in the cache. Nobody holds the
// locks of two caches.
type Cache[T Cached] struct {
	*Informer
	view func(*meta.Object) T

	mu      sync.Mutex // guards the next six
	entries map[meta.Key]T
	owned   Index[owner, meta.Key, T]
	// namespaces are the objects of each namespace; nil for Pods, which nobody looks up by it.
	namespaces Index[string, meta.Key, T]
	// gone holds the version of deletes that a write has answered and the watch has not told of yet: until then it may
	// deliver older states, which must not come back to life.
	gone map[meta.Key]uint64
	// seen is the newest version that the watch has told of. An answer that is not newer, for an object that is not
	// there, comes late: the watch has told of the object and of its delete.
	seen     uint64
	handlers []func(old, now T)
}

// An owner is the uid of a controller, or the namespace of objects that have none.
// The one map serves both look-ups, and each object is under exactly one owner.
type owner struct{ uid, orphansIn string }

// ownerOf is where an object is filed. It changes when the object is adopted or released, so put takes the state before
// out first.
func ownerOf(h *Head) owner {
	if h.Controller != nil {
		return owner{uid: h.Controller.UID}
	}
	return owner{orphansIn: h.Key.Namespace}
}

// NewCache returns the cache of a kind, which is empty until somebody calls Run. What its controllers write is in it.
func NewCache[T Cached](k Client, view func(*meta.Object) T) *Cache[T] {
	c := newCache(k, view)
	k.env.mu.Lock()
	defer k.env.mu.Unlock()
	k.env.caches[k.Storage] = c
	return c
}

func newCache[T Cached](k Client, view func(*meta.Object) T) *Cache[T] {
	c := &Cache[T]{view: view, entries: map[meta.Key]T{}, owned: Index[owner, meta.Key, T]{}, gone: map[meta.Key]uint64{}}
	c.Informer = &Informer{Client: k, On: c.OnEvent}
	return c
}

// An observer takes what writes have answered.
type observer interface{ Written(e Event) }

// written takes what a write has answered into the cache of its kind, if there is one.
//
// The body of some sub-resources, such as a scale, is no state of the object, which is read again then.
func (e *Env) written(ctx context.Context, m request.Mutation, r request.Result) {
	e.mu.Lock()
	c := e.caches[m.Kind.Storage]
	e.mu.Unlock()
	if c == nil || r.Object == nil {
		return
	}
	if sub := m.Kind.Subresource(m.Subresource); sub != nil && sub.BodyKind != nil {
		o, err := e.Store.Get(ctx, request.Get{Kind: m.Kind, Key: m.Key, Version: r.Object.Version})
		if err != nil {
			e.Log.Debug("what was written cannot be read", "object", m.Key, "error", err)
			return
		}
		r = request.Result{Object: o}
	}
	c.Written(Event{r.Object, r.Deleted})
}

// Subscribe calls a handler with each object that is there, and with every change from then on: old is nil for an
// object that is new, now for one that is gone. Handlers are called by whoever brings the change, so they only note
// what is to be looked at.
// An object that changes in the meantime may be told twice. Controllers subscribe before they run, when mostly nothing
// is there yet.
func (c *Cache[T]) Subscribe(handler func(old, now T)) {
	c.mu.Lock()
	c.handlers = append(c.handlers, handler)
	known := valuesOf(c.entries)
	c.mu.Unlock()
	var none T
	for _, t := range known {
		handler(none, t)
	}
}

// OnEvent takes what the watch delivers.
func (c *Cache[T]) OnEvent(e Event) { c.take(e, true) }

// Written takes what a write has answered.
func (c *Cache[T]) Written(e Event) { c.take(e, false) }

// take keeps a state that is newer than what is known, and tells the handlers. Objects that were deleted between two
// watches come without a version.
// A state that comes late is dropped: of the two sources neither is in step with the other, and going back to an older
// state would undo what a controller has just done in its own eyes. A version of 0 cannot be compared and is always
// taken.
func (c *Cache[T]) take(e Event, watched bool) {
	c.mu.Lock()
	var none T
	old := c.entries[e.Key]
	late := !watched && old == none && e.Version <= c.seen
	if watched {
		c.seen = max(c.seen, e.Version)
	}
	// A watch that tells of the very delete that a write has answered settles it: nothing older can come after.
	if stale := late || e.Version != 0 && (old != none && e.Version <= old.Ref().Version || e.Version <= c.gone[e.Key]); stale {
		if watched && e.Deleted && c.gone[e.Key] == e.Version {
			delete(c.gone, e.Key)
		}
		c.mu.Unlock()
		return
	}
	now := none
	if e.Deleted {
		c.remove(old, e.Object, watched)
	} else {
		now = c.view(e.Object)
		c.put(old, now)
	}
	handlers := c.handlers
	c.mu.Unlock()
	if old == none && now == none {
		return
	}
	for _, handle := range handlers {
		handle(old, now)
	}
}

// put replaces old, which may be nil. The caller holds the lock.
func (c *Cache[T]) put(old, now T) {
	h := now.Ref()
	c.unlink(old)
	delete(c.gone, h.Key)
	c.entries[h.Key] = now
	if c.namespaces != nil {
		c.namespaces.Put(h.Key.Namespace, h.Key, now)
	}
	c.owned.Put(ownerOf(h), h.Key, now)
}

// remove takes an object out. The caller holds the lock.
// A delete that a write has answered leaves its version behind in gone, which the watch clears when it has come as far.
func (c *Cache[T]) remove(old T, o *meta.Object, watched bool) {
	if watched {
		delete(c.gone, o.Key)
	} else {
		c.gone[o.Key] = o.Version
	}
	delete(c.entries, o.Key)
	c.namespaces.Delete(o.Key.Namespace, o.Key)
	c.unlink(old)
}

// unlink takes an object out from under its owner. It uses the head of the state before, as the owner of the new one may
// be another. The caller holds the lock.
func (c *Cache[T]) unlink(old T) {
	var none T
	if old == none {
		return
	}
	h := old.Ref()
	c.owned.Delete(ownerOf(h), h.Key)
}

// Get is the object of a key; nil if there is none.
func (c *Cache[T]) Get(key meta.Key) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key]
}

// Named is the object of a namespace and a name; nil if there is none.
func (c *Cache[T]) Named(namespace, name string) T { return c.Get(c.Key(namespace, name)) }

// OwnedBy are the objects that an object controls, in no order.
func (c *Cache[T]) OwnedBy(uid string) []T { return c.of(owner{uid: uid}) }

// Orphans are the objects of a namespace that nobody controls, in no order.
func (c *Cache[T]) Orphans(namespace string) []T { return c.of(owner{orphansIn: namespace}) }

// The slice is the caller's own; the views in it are shared and must not be changed.
func (c *Cache[T]) of(o owner) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return valuesOf(c.owned[o])
}

// All are all objects, in no order.
func (c *Cache[T]) All() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return valuesOf(c.entries)
}

// inNamespace are the objects of a namespace, in no order.
// It is only for caches of Items, which keep the keys by namespace; it is asked for each orphan that changes, and
// looking through all objects would take too long then.
func (c *Cache[T]) inNamespace(namespace string) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return valuesOf(c.namespaces[namespace])
}

// Controlled is the object that a reference to a controller names, if it is in this cache.
// The uid has to be the same, for the name may belong to a later object that does not control anything yet.
func (c *Cache[T]) Controlled(namespace string, r *meta.OwnerReference) T {
	var none T
	if r == nil || r.Kind != c.Kind.Kind {
		return none
	}
	if t := c.Named(namespace, r.Name); t != none && t.Ref().UID == r.UID {
		return t
	}
	return none
}

// Remove deletes an object in whatever version it has by then. It is no error if it is gone.
func (c *Cache[T]) Remove(ctx context.Context, h *Head, policy string) error {
	return c.DeleteKey(ctx, h.Key, request.Delete{UID: &h.UID, PropagationPolicy: policy})
}
