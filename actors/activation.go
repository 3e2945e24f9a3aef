package actors

import (
	"container/list"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/meta"
)

// activations are the actors of a collection's objects. An object is activated, which means that it has
// an actor, while anyone waits for a change of it. Afterwards the actor stays with the object until
// it has been idle for too long, or until another object needs an actor and takes this one over. So
// changing many different objects one after the other starts few actors.
// The mutex guards the map, the list, and the fields of each activation that say so.
type activations struct {
	mu     sync.Mutex
	byPath map[string]*activation
	idle   list.List // of *activation that nobody asks, longest idle first
	closed bool      // no actor starts any more
}

// maxIdleActivations is how many idle actors a collection keeps before other objects take them over.
const maxIdleActivations = 256

// activation is an actor that owns one object at a time.
type activation struct {
	collection *collection
	ref        *runtime.Ref
	faulty     atomic.Bool // it has panicked, and no other object may take it over

	// The mutex of activations guards what follows.
	path        string // of the object
	pending     int    // mutations that have no outcome yet
	idleSince   int64  // unix nanoseconds
	idleElement *list.Element
	closed      bool // it takes no mutations any more
}

// acquire finds the actor of the object at a path, or gives it one, until release; nil when the store
// is closing.
func (c *collection) acquire(path string) *activation {
	all := &c.activations
	all.mu.Lock()
	defer all.mu.Unlock()
	a := all.byPath[path]
	if a == nil {
		if all.closed {
			return nil
		}
		if a = all.reuseIdle(); a == nil {
			a = c.newActivation()
		}
		a.path = path
		all.byPath[path] = a
	}
	if a.idleElement != nil {
		all.idle.Remove(a.idleElement)
		a.idleElement = nil
	}
	a.pending++
	return a
}

// newActivation starts an actor. The caller holds the mutex. The actor runs on the goroutine of the
// writer that asks it, which waits for the answer anyway.
func (c *collection) newActivation() *activation {
	a := &activation{collection: c}
	a.ref = c.store.runtime.Spawn(runtime.Spec{
		New: func() runtime.Owner { return &object{activation: a} }, MailboxSize: c.store.tuning.MailboxSize, Inline: true,
	})
	return a
}

// reuseIdle takes the longest idle actor from its object; nil if few are idle. The caller holds the
// mutex.
func (all *activations) reuseIdle() *activation {
	if all.idle.Len() < maxIdleActivations {
		return nil
	}
	for e := all.idle.Front(); e != nil; e = e.Next() {
		if a := e.Value.(*activation); !a.faulty.Load() {
			all.remove(a)
			return a
		}
	}
	return nil
}

// remove takes an actor from its object. The caller holds the mutex.
func (all *activations) remove(a *activation) {
	if all.byPath[a.path] == a {
		delete(all.byPath, a.path)
	}
	if a.idleElement != nil {
		all.idle.Remove(a.idleElement)
		a.idleElement = nil
	}
}

// largeObject is the size, in bytes of JSON, from which an actor does not stay with its idle object: it
// would keep the last change, decoded and encoded, which takes many times that size.
const largeObject = 64 << 10

// release says that a mutation has its outcome: it was answered, and its change, if any, is applied.
// result is the object as of then; nil if it is not known.
func (a *activation) release(result *meta.Object) {
	all := &a.collection.activations
	all.mu.Lock()
	a.pending--
	idle := a.pending == 0 && !a.closed
	leave := idle && result != nil && len(result.JSON) >= largeObject
	switch {
	case leave:
		all.remove(a)
		a.closed = true
	case idle:
		a.idleSince = time.Now().UnixNano()
		a.idleElement = all.idle.PushBack(a)
	}
	all.mu.Unlock()
	if leave {
		a.ref.Stop()
	}
}

// detach takes an actor that stops from its object. Mutations that are still queued are rejected
// (mutateRequest.Reject) and ask again.
func (a *activation) detach() {
	all := &a.collection.activations
	all.mu.Lock()
	defer all.mu.Unlock()
	all.remove(a)
	a.closed = true
}

// passivate stops the actors that have been idle since before a time. They are taken from their objects
// first, so that no mutation reaches an actor that is about to stop.
func (c *collection) passivate(before time.Time) {
	all := &c.activations
	all.mu.Lock()
	var leaving []*activation
	for e := all.idle.Front(); e != nil && e.Value.(*activation).idleSince < before.UnixNano(); e = all.idle.Front() {
		a := e.Value.(*activation)
		all.remove(a)
		a.closed = true
		leaving = append(leaving, a)
	}
	all.mu.Unlock()
	for _, a := range leaving {
		a.ref.Stop()
	}
}

// stats counts the actors and the messages that wait for them.
func (all *activations) stats() (alive, queued int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, a := range all.byPath {
		queued += a.ref.Len()
	}
	return len(all.byPath), queued
}

// close lets no more actors start, and lists those that are alive.
func (all *activations) close() []*activation {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
	return slices.Collect(maps.Values(all.byPath))
}
