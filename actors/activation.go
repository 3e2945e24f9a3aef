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

// activations lends actors to the objects that are being changed: to each object one, for
// as long as anyone waits for a change of it. Afterwards the actor stays with its object
// until it has been idle for too long, or another object needs one: then it goes over to
// that. So a stream of changes of ever other objects starts no actors, and their number
// is bounded by what is going on. Its mutex guards the map, the list, and what each
// resident keeps there.
type activations struct {
	mu     sync.Mutex
	byPath map[string]*activation
	idle   list.List // of *resident that nobody asks, longest idle first
	closed bool      // no actor starts any more
}

// maxIdleActivations is how many idle actors a collection keeps before they go over to others.
const maxIdleActivations = 256

// activation is the address of the actor that owns one object at a time.
type activation struct {
	collection *collection
	ref        *runtime.Ref
	faulty     atomic.Bool // it has panicked, and must not go over to another object

	path        string // of the object
	pending     int    // questions that are not settled
	idleSince   int64  // when the last was, unix nanoseconds
	idleElement *list.Element
	closed      bool // it takes no questions any more
}

// acquire finds the actor of the object at a path, or lends it one, until release; nil
// when the store is closing.
func (c *collection) acquire(path string) *activation {
	all := &c.activations
	all.mu.Lock()
	defer all.mu.Unlock()
	r := all.byPath[path]
	if r == nil {
		if all.closed {
			return nil
		}
		if r = all.reuseIdle(); r == nil {
			r = c.newActivation()
		}
		r.path = path
		all.byPath[path] = r
	}
	if r.idleElement != nil {
		all.idle.Remove(r.idleElement)
		r.idleElement = nil
	}
	r.pending++
	return r
}

// newActivation starts an actor. It runs on the goroutine of the writer that asks it, which waits for the
// answer anyway. The caller holds the mutex.
func (c *collection) newActivation() *activation {
	r := &activation{collection: c}
	r.ref = c.store.runtime.Spawn(runtime.Spec{
		New: func() runtime.Owner { return &object{activation: r} }, MailboxSize: c.store.tuning.MailboxSize, Inline: true,
	})
	return r
}

// reuseIdle parts the longest idle actor from its object; nil if few are idle. The caller
// holds the mutex.
func (all *activations) reuseIdle() *activation {
	if all.idle.Len() < maxIdleActivations {
		return nil
	}
	for e := all.idle.Front(); e != nil; e = e.Next() {
		if r := e.Value.(*activation); !r.faulty.Load() {
			all.detach(r)
			return r
		}
	}
	return nil
}

// detach takes an actor from its object. The caller holds the mutex.
func (all *activations) detach(r *activation) {
	if all.byPath[r.path] == r {
		delete(all.byPath, r.path)
	}
	if r.idleElement != nil {
		all.idle.Remove(r.idleElement)
		r.idleElement = nil
	}
}

// largeObject is the size, in bytes of JSON, from which an owner does not stay with its object: it
// would keep the last change of it, decoded and encoded, many times that size.
const largeObject = 64 << 10

// release says that a question is settled: answered, and its change, if any, landed. about is
// the object as it is known to be then, if at all.
func (r *activation) release(result *meta.Object) {
	all := &r.collection.activations
	all.mu.Lock()
	r.pending--
	idle := r.pending == 0 && !r.closed
	leave := idle && result != nil && len(result.JSON) >= largeObject
	switch {
	case leave:
		all.detach(r)
		r.closed = true
	case idle:
		r.idleSince = time.Now().UnixNano()
		r.idleElement = all.idle.PushBack(r)
	}
	all.mu.Unlock()
	if leave {
		r.ref.Stop()
	}
}

// close detaches an actor that stops from its object. The runtime rejects what is still queued.
func (r *activation) close() {
	all := &r.collection.activations
	all.mu.Lock()
	defer all.mu.Unlock()
	all.detach(r)
	r.closed = true
}

// passivate stops the actors that have been idle since before a time. Nobody can ask
// them any more when they are told.
func (c *collection) passivate(before time.Time) {
	all := &c.activations
	all.mu.Lock()
	var leaving []*activation
	for e := all.idle.Front(); e != nil && e.Value.(*activation).idleSince < before.UnixNano(); e = all.idle.Front() {
		r := e.Value.(*activation)
		all.detach(r)
		r.closed = true
		leaving = append(leaving, r)
	}
	all.mu.Unlock()
	for _, r := range leaving {
		r.ref.Stop()
	}
}

// stats counts the actors and the messages that wait for them.
func (all *activations) stats() (alive, queued int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.byPath {
		queued += r.ref.Len()
	}
	return len(all.byPath), queued
}

// close lets no more actors start, and lists those that live.
func (all *activations) close() []*activation {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
	return slices.Collect(maps.Values(all.byPath))
}
