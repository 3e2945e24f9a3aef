package actors

import (
	"container/list"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-api/troupe/kinds/meta"
)

// residents lends actors to the objects that are being changed: to each object one, for
// as long as anyone waits for a change of it. Afterwards the actor stays with its object
// until it has been idle for too long, or another object needs one: then it goes over to
// that. So a stream of changes of ever other objects starts no actors, and their number
// is bounded by what is going on. Its mutex guards the map, the list, and what each
// resident keeps there.
type residents struct {
	mu     sync.Mutex
	byPath map[string]*resident
	idle   list.List // of *resident that nobody asks, longest idle first
	closed bool      // no actor starts any more
}

// maxSpare is how many idle actors a collection keeps before they go over to others.
const maxSpare = 256

// resident is the address of the actor that owns one object at a time.
type resident struct {
	collection *collection
	box        *mailbox
	pid        *actor.PID
	faulty     atomic.Bool // it has panicked, and must not go over to another object

	path   string // of the object
	asking int    // questions that are not settled
	since  int64  // when the last was, unix nanoseconds
	spare  *list.Element
	gone   bool // it takes no questions any more
}

// resident finds the actor of the object at a path, or lends it one, until release; nil
// when the store is closing.
func (c *collection) resident(path string) *resident {
	all := &c.objects
	all.mu.Lock()
	defer all.mu.Unlock()
	r := all.byPath[path]
	if r == nil {
		if all.closed {
			return nil
		}
		if r = all.takeOver(); r == nil {
			r = c.newResident()
		}
		r.path = path
		all.byPath[path] = r
	}
	if r.spare != nil {
		all.idle.Remove(r.spare)
		r.spare = nil
	}
	r.asking++
	return r
}

// newResident starts an actor. The caller holds the mutex.
func (c *collection) newResident() *resident {
	r := &resident{collection: c, box: newMailbox(c.store.tuning.MailboxSize)}
	r.box.inline = true
	r.pid = c.store.spawn(func() actor.Actor { return &object{resident: r} }, r.box)
	return r
}

// takeOver parts the longest idle actor from its object; nil if few are idle. The caller
// holds the mutex.
func (all *residents) takeOver() *resident {
	if all.idle.Len() < maxSpare {
		return nil
	}
	for e := all.idle.Front(); e != nil; e = e.Next() {
		if r := e.Value.(*resident); !r.faulty.Load() {
			all.part(r)
			return r
		}
	}
	return nil
}

// part takes an actor from its object. The caller holds the mutex.
func (all *residents) part(r *resident) {
	if all.byPath[r.path] == r {
		delete(all.byPath, r.path)
	}
	if r.spare != nil {
		all.idle.Remove(r.spare)
		r.spare = nil
	}
}

// largeObject is the size, in bytes of JSON, from which an owner does not stay with its object: it
// would keep the last change of it, decoded and encoded, many times that size.
const largeObject = 64 << 10

// release says that a question is settled: answered, and its change, if any, landed. about is
// the object as it is known to be then, if at all.
func (r *resident) release(about *meta.Object) {
	all := &r.collection.objects
	all.mu.Lock()
	r.asking--
	idle := r.asking == 0 && !r.gone
	leave := idle && about != nil && len(about.JSON) >= largeObject
	switch {
	case leave:
		all.part(r)
		r.gone = true
	case idle:
		r.since = time.Now().UnixNano()
		r.spare = all.idle.PushBack(r)
	}
	all.mu.Unlock()
	if leave {
		r.collection.store.system.Root.Stop(r.pid)
	}
}

// close parts the actor from its object and answers what is still queued.
func (r *resident) close() {
	all := &r.collection.objects
	all.mu.Lock()
	all.part(r)
	r.gone = true
	all.mu.Unlock()
	for _, message := range r.box.close() {
		if m, ok := message.(rejectable); ok {
			m.reject(errStopped)
		}
	}
}

// passivate stops the actors that have been idle since before a time. Nobody can ask
// them any more when they are told.
func (c *collection) passivate(before time.Time) {
	all := &c.objects
	all.mu.Lock()
	var leaving []*resident
	for e := all.idle.Front(); e != nil && e.Value.(*resident).since < before.UnixNano(); e = all.idle.Front() {
		r := e.Value.(*resident)
		all.part(r)
		r.gone = true
		leaving = append(leaving, r)
	}
	all.mu.Unlock()
	for _, r := range leaving {
		c.store.system.Root.Stop(r.pid)
	}
}

// stats counts the actors and the messages that wait for them.
func (all *residents) stats() (alive, queued int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.byPath {
		queued += r.box.length()
	}
	return len(all.byPath), queued
}

// close lets no more actors start, and lists those that live.
func (all *residents) close() []*resident {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
	return slices.Collect(maps.Values(all.byPath))
}
