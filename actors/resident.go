package actors

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-api/troupe/kinds/meta"
)

// residents are the objects whose actors exist. Its mutex guards the map.
type residents struct {
	mu     sync.Mutex
	byKey  map[string]*resident
	closed bool // no actor starts any more
}

// resident is the address of one object's actor.
type resident struct {
	collection *collection
	key        meta.Key
	box        *mailbox
	pid        *actor.PID
	used       atomic.Int64 // unix nanoseconds
	leaving    atomic.Bool
}

// resident finds the actor of an object, or starts one; nil when the store is closing.
func (c *collection) resident(key meta.Key) *resident {
	at := path(key.Namespace, key.Name)
	c.objects.mu.Lock()
	defer c.objects.mu.Unlock()
	if r := c.objects.byKey[at]; r != nil {
		return r
	}
	if c.objects.closed {
		return nil
	}
	r := &resident{collection: c, key: key, box: newMailbox(c.store.tuning.MailboxSize)}
	r.used.Store(time.Now().UnixNano())
	r.pid = c.store.spawn(func() actor.Actor { return &object{resident: r} }, r.box)
	c.objects.byKey[at] = r
	return r
}

// close takes the actor out of the map and answers what is still queued.
func (r *resident) close() {
	at := path(r.key.Namespace, r.key.Name)
	all := &r.collection.objects
	all.mu.Lock()
	if all.byKey[at] == r {
		delete(all.byKey, at)
	}
	all.mu.Unlock()
	for _, message := range r.box.close() {
		if m, ok := message.(rejectable); ok {
			m.reject(errStopped)
		}
	}
}

// passivate asks the actors that were last used before a time to leave.
func (all *residents) passivate(before time.Time) {
	all.mu.Lock()
	var idle []*resident
	for _, r := range all.byKey {
		if r.used.Load() < before.UnixNano() && !r.leaving.Swap(true) {
			idle = append(idle, r)
		}
	}
	all.mu.Unlock()
	for _, r := range idle {
		r.box.post(stopIdle{})
	}
}

// stats counts the actors and the messages that wait for them.
func (all *residents) stats() (alive, queued int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.byKey {
		queued += r.box.length()
	}
	return len(all.byKey), queued
}

// close lets no more actors start, and lists those that live.
func (all *residents) close() []*resident {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
	return slices.Collect(maps.Values(all.byKey))
}
