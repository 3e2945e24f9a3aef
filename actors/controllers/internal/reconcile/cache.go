package reconcile

import (
	"context"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// Head holds the object fields that every cache keeps. Version is the numeric resourceVersion. Key
// and UID together identify an object, because a key may be reused after a delete.
type Head struct {
	Key         meta.Key
	UID         string
	Version     uint64
	Labels      meta.Labels
	Controller  *meta.OwnerReference // the controlling owner; nil for none
	Terminating bool
}

func (h *Head) Ref() *Head { return h }

// NewHead returns an object's head. It copies strings to avoid keeping the object's JSON in memory.
func NewHead(o *meta.Object) Head {
	own := o.Meta.Clone()
	return Head{Key: o.Key, UID: own.UID, Version: o.Version, Labels: own.Labels, Terminating: own.Terminating, Controller: ControllerOf(&own)}
}

// Object returns an object that can be passed to the methods of Client. It contains only the
// object's identity and version, which writes use as a precondition.
func (h *Head) Object() *meta.Object {
	return &meta.Object{Key: h.Key, Version: h.Version, Meta: meta.ObjectMeta{UID: h.UID}}
}

// AnyVersion is like Object, but without the version precondition.
func (h *Head) AnyVersion() *meta.Object {
	o := h.Object()
	o.Version = 0
	return o
}

// Cached is the constraint for views in a Cache, such as *Item. Each view has a Head.
type Cached interface {
	comparable
	Ref() *Head
}

// Cache holds the latest version of each object of a kind, reduced to a view of type T. It is safe
// for concurrent use. Its views are immutable.
//
// Handlers run without the lock, because they call methods of this and other caches. They may run
// concurrently and out of order, so a handler must read the current view from the cache. No
// goroutine holds the locks of two caches.
type Cache[T Cached] struct {
	*Informer
	view func(*meta.Object) T

	mu      sync.Mutex // guards the fields below
	entries map[meta.Key]T
	owned   Index[owner, meta.Key, T]
	// namespaces holds the objects by namespace. It is nil for Pods, which are not looked up that
	// way.
	namespaces Index[string, meta.Key, T]
	// gone holds the versions of deletions known from a response but not yet from the watch. Older
	// watch events for the same key are ignored, because they would restore the deleted object.
	gone map[meta.Key]uint64
	// seen is the newest version that the watch has delivered. A response to a write may arrive
	// after the watch has delivered both the write and a later delete. The object is then missing
	// from the cache, so a response that is not newer than seen is ignored.
	seen     uint64
	handlers []*func(old, now T) // copied on write
}

// An owner is the uid of a controller, or the namespace of an object without a controller. Each
// object is indexed under exactly one owner.
type owner struct{ uid, orphansIn string }

// ownerOf returns the owner under which an object is indexed. Adoption and release change the
// owner, so put must unlink the previous version first.
func ownerOf(h *Head) owner {
	if h.Controller != nil {
		return owner{uid: h.Controller.UID}
	}
	return owner{orphansIn: h.Key.Namespace}
}

// NewCache returns the cache of a kind. Run fills it from a watch. Writes through any Client of the
// same Env also update it.
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

type observer interface{ Written(e Event) }

// written updates the cache of a kind, if any, with the response to a write. If the response is a
// subresource such as scale, written reads the object itself from the store.
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
			e.Log.Debug("cannot decode a written object", "object", m.Key, "error", err)
			return
		}
		r = request.Result{Object: o}
	}
	c.Written(Event{r.Object, r.Deleted})
}

// Subscribe calls handler for each cached object and every later change, until end is called. old
// is nil for a new object, and now is nil for a deleted one. Handlers run on the goroutine that
// delivers the change, so they should only enqueue keys. An object that changes during Subscribe
// may be passed twice.
func (c *Cache[T]) Subscribe(handler func(old, now T)) (end func()) {
	c.mu.Lock()
	c.handlers = append(slices.Clip(c.handlers), &handler)
	known := valuesOf(c.entries)
	c.mu.Unlock()
	var none T
	for _, t := range known {
		handler(none, t)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.handlers = slices.DeleteFunc(slices.Clone(c.handlers), func(h *func(old, now T)) bool { return h == &handler })
	}
}

// OnEvent updates the cache with a watch event.
func (c *Cache[T]) OnEvent(e Event) { c.take(e, true) }

// Written updates the cache with the response to a write.
func (c *Cache[T]) Written(e Event) { c.take(e, false) }

// take records an object that is newer than the cached one, and calls the handlers. Watch events
// and responses arrive in any order. take drops older objects, so that a controller never sees its
// own writes undone. Version 0 marks an object deleted between two watches and is always accepted.
func (c *Cache[T]) take(e Event, watched bool) {
	c.mu.Lock()
	var none T
	old := c.entries[e.Key]
	late := !watched && old == none && e.Version <= c.seen
	if watched {
		c.seen = max(c.seen, e.Version)
	}
	// No older version can follow after the watch has delivered a delete.
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
		(*handle)(old, now)
	}
}

// put replaces the cached view old, which may be nil, with now. The caller must hold mu.
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

// remove removes an object from the cache. If the deletion is known only from a response, remove
// records its version in gone until the watch has delivered it. The caller must hold mu.
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

// unlink must be called with mu held.
func (c *Cache[T]) unlink(old T) {
	var none T
	if old == none {
		return
	}
	h := old.Ref()
	c.owned.Delete(ownerOf(h), h.Key)
}

// Get returns the object for a key, or nil.
func (c *Cache[T]) Get(key meta.Key) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries[key]
}

// Named returns the object for a namespace and name, or nil.
func (c *Cache[T]) Named(namespace, name string) T { return c.Get(c.Key(namespace, name)) }

// OwnedBy returns the objects whose controller has the given uid, in no particular order.
func (c *Cache[T]) OwnedBy(uid string) []T { return c.of(owner{uid: uid}) }

// Orphans returns the objects in a namespace without a controller, in no particular order.
func (c *Cache[T]) Orphans(namespace string) []T { return c.of(owner{orphansIn: namespace}) }

// of returns an owner's objects. The caller owns the slice, but the views are shared.
func (c *Cache[T]) of(o owner) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return valuesOf(c.owned[o])
}

// All returns all objects, in no particular order.
func (c *Cache[T]) All() []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return valuesOf(c.entries)
}

func (c *Cache[T]) inNamespace(namespace string) []T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return valuesOf(c.namespaces[namespace])
}

// Controlled returns the object that a controller reference refers to, or nil if it is not in this
// cache. The uid must match, because the name may belong to a later object.
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

// Remove deletes an object regardless of its version. policy is the propagation policy. A missing
// object is not an error.
func (c *Cache[T]) Remove(ctx context.Context, h *Head, policy string) error {
	return c.DeleteKey(ctx, h.Key, request.Delete{UID: &h.UID, PropagationPolicy: policy})
}
