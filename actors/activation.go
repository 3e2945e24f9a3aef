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

// activations assigns an actor to each object being changed. An actor serves one object until it
// has been idle for too long or is reused for another. The number of actors depends on concurrent
// changes, not on stored objects.
type activations struct {
	mu     sync.Mutex
	byPath map[string]*activation
	idle   list.List // each *activation without a pending request, longest idle first
	closed bool      // no more actors are started
}

// maxIdleActivations limits the number of idle actors per collection. At the limit, the next object
// reuses the actor that has been idle longest.
const maxIdleActivations = 256

// activation is the address of the actor that currently owns an object.
type activation struct {
	collection *collection
	ref        *runtime.Ref
	faulty     atomic.Bool // it has panicked and must not be reused

	// Guarded by activations.mu:
	path        string // path of the object
	pending     int    // unfinished requests
	idleSince   int64  // Unix nanoseconds
	idleElement *list.Element
	closed      bool // it accepts no more requests
}

// acquire returns the object's activation, or nil if the store is closing. The caller must release
// it.
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

// newActivation spawns an actor for one object. An idle actor handles a message on the sender's
// goroutine, which avoids a goroutine switch. The caller must hold all.mu.
func (c *collection) newActivation() *activation {
	r := &activation{collection: c}
	r.ref = c.store.runtime.Spawn(runtime.Spec{
		New: func() runtime.Owner { return &object{activation: r} }, MailboxSize: c.store.tuning.MailboxSize, Inline: true,
	})
	return r
}

// reuseIdle detaches the longest-idle actor from its object. It returns nil if fewer than
// maxIdleActivations actors are idle. The caller must hold all.mu.
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

// detach must be called with all.mu held.
func (all *activations) detach(r *activation) {
	if all.byPath[r.path] == r {
		delete(all.byPath, r.path)
	}
	if r.idleElement != nil {
		all.idle.Remove(r.idleElement)
		r.idleElement = nil
	}
}

// ask sends a request to the actor and blocks until the reply arrives. If the reply contains a
// proposal, ask also waits for the proposal's outcome.
func (r *activation) ask(m *mutateRequest) (mutateReply, error) {
	r.ref.Send(m)
	select {
	case <-m.answered: // the usual case: an idle owner has run on this goroutine
		m.reply.lead(m.ctx)
	default:
		select {
		case <-m.answered:
		case <-m.ctx.Done(): // which creates a timer
			go m.awaitAndRelease(r)
			return mutateReply{}, meta.NewTimeout("the request ended while it waited for the object; the change may have been made")
		}
	}
	reply := m.reply
	if reply.proposal != nil && !reply.proposal.resolved() {
		select {
		case <-reply.proposal.done:
		case <-m.ctx.Done():
			go reply.awaitAndRelease(r)
			return mutateReply{}, meta.NewTimeout("the request ended while its change was being stored; the change may have been made")
		}
	}
	r.release(reply.resultObject())
	return reply, nil
}

// largeObject is the JSON size in bytes from which an object's actor stops as soon as it is idle.
// An idle actor keeps the decoded and the encoded form of its last change in memory, which takes
// several times that size.
const largeObject = 64 << 10

// release ends a request after its proposal, if any, has been resolved. result is the resulting
// object, or nil.
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

// close detaches an actor that is stopping. The runtime rejects its queued messages.
func (r *activation) close() {
	all := &r.collection.activations
	all.mu.Lock()
	defer all.mu.Unlock()
	all.detach(r)
	r.closed = true
}

// passivate stops the actors that became idle before the given time. It first detaches them, so
// that no writer can find them.
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

func (all *activations) stats() (alive, queued int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, r := range all.byPath {
		queued += r.ref.Len()
	}
	return len(all.byPath), queued
}

func (all *activations) close() []*activation {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.closed = true
	return slices.Collect(maps.Values(all.byPath))
}
