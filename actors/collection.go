package actors

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// collection is the shared view of one storage kind's objects: the published snapshot, the history
// and the watches. Only its publisher writes the snapshot and the history.
type collection struct {
	store       *Store
	storage     meta.GroupResource
	currentKind atomic.Pointer[schema.Kind] // what kind returns
	allocator   mutation.Allocator
	publisher   *runtime.Ref

	published     atomic.Pointer[snapshot]
	history       *history
	watchers      watchers
	activations   activations
	turns         conversionTurns
	snapshotCache snapshotCache
	mutations     mutations
}

// kind returns the kind that is used to decode stored objects. The kind of a custom resource
// changes with its CRD.
func (c *collection) kind() *schema.Kind { return c.currentKind.Load() }

func (c *collection) prefix() string { return c.storage.Group + "/" + c.storage.Resource + "/" }

// publisher is the actor that owns a collection's index and history. A panic during publishing ends
// the process, because durable changes must not remain invisible.
type publisher struct {
	*collection
	working      *objectIndex // the next snapshot
	fieldIndexes []fieldIndex // of the next snapshot
	records      []*record    // records of the current batch; reused
}

type changes struct {
	records     []change
	publication *publication
}

// Reject marks the changes as published, so that the applied revision can advance. It is called if
// another server writes to a collection that this server has removed.
func (b *changes) Reject(error) { b.publication.applied.done(b.publication) }

// A change is a committed write that is not published yet.
type change struct {
	path     string // path of the object; shares its key's memory
	object   *meta.Object
	kind     *schema.Kind // stored kind with which the object was written or decoded
	remove   bool
	time     time.Time
	proposal *proposal // nil for another server's write
	// nameOnly is set if an unreadable object was deleted. object then contains only a name.
	nameOnly bool
	// unreadable is the new stored value if it could not be decoded. Readers then see the object as
	// deleted.
	unreadable *Unreadable
}

type tick struct{ now time.Time }

func (p *publisher) Receive(self *runtime.Ref, message any) {
	switch m := message.(type) {
	case runtime.Started:
		p.working, p.fieldIndexes = fork(p.published.Load().objects), forkFieldIndexes(p.published.Load().fieldIndexes)
	case *changes:
		p.publish(m, self.OnSender())
	case *rebuilt:
		p.rebuild(m)
	case tick:
		p.tick(m.now)
	case snapshotRequest:
		m.reply <- p.published.Load()
	case pendingRelease:
		m.reserved.Release()
	case isEmpty:
		m.reply <- p.working.Len() == 0
	case migrateSchema:
		p.migrateSchema(m)
	}
}

// publish makes a batch visible to readers, and then wakes watches and writers. It runs inline
// watches last, because their sinks may run on the same goroutine. If onSender is true, publish and
// these sinks run on the committer's goroutine.
func (p *publisher) publish(b *changes, onSender bool) {
	defer func() {
		if reason := recover(); reason != nil {
			p.store.fail(fmt.Errorf("publishing changes of %s: %v", p.storage, reason))
		}
	}()
	for i := range b.records {
		if r := p.apply(&b.records[i]); r != nil {
			p.records = append(p.records, r)
		}
	}
	p.store.retention.append(p.history, p.records)
	p.snapshotCache.dropBelow(p.history.floor.Load())
	last := b.records[len(b.records)-1].object.Version
	p.published.Store(&snapshot{objects: p.working.Copy(), fieldIndexes: shareFieldIndexes(p.fieldIndexes), version: last})
	if p.store.recorder != nil {
		p.store.recorder.record(p.kind(), p.records)
	}
	inline := p.watchers.wake(p.records, p.store.runtime)
	clear(p.records)
	p.records = p.records[:0]
	p.store.appliedRevision.done(b.publication)
	for i := range b.records {
		if f := b.records[i].proposal; f != nil {
			f.markApplied(b.records[i].object)
		}
	}
	for _, turn := range inline {
		if onSender {
			turn.Run()
		} else {
			turn.Dispatch()
		}
	}
}

// apply applies one change to the working index. It returns the history record, or nil if readers
// cannot see the change.
func (p *publisher) apply(c *change) *record {
	if c.kind != p.kind() { // computed before the CRD changed
		c.object = p.withSelectableFields(c.object)
	}
	r := &record{version: c.object.Version, time: c.time, kind: changed, object: c.object}
	at := c.path
	if c.unreadable != nil {
		p.store.quarantine.put(c.unreadable)
	} else if p.store.quarantine.size.Load() > 0 {
		p.store.quarantine.drop(c.object.Key.String())
	}
	if c.remove {
		r.kind = removed
		r.previous, _ = p.working.Delete(at)
	} else {
		r.previous, _ = p.working.Set(at, c.object)
		if r.previous == nil {
			r.kind = created
		}
	}
	p.observe(c, r.previous)
	for _, x := range p.fieldIndexes {
		if r.previous != nil {
			x.delete(at, r.previous)
		}
		if !c.remove {
			x.put(at, c.object)
		}
	}
	if c.proposal == nil {
		p.observeAllocation(r)
	}
	if c.nameOnly && r.previous != nil {
		r.object = withVersion(r.previous, r.version)
	}
	if c.proposal == nil && c.remove && r.previous == nil {
		return nil
	}
	r.computeBytes()
	return r
}

func (p *publisher) tick(now time.Time) {
	t := p.store.tuning
	p.snapshotCache.expire(now.Add(-t.HistoryTime))
	p.snapshotCache.dropBelow(p.history.floor.Load())
	p.passivate(now.Add(-t.IdleTime))
	p.watchers.sendBookmarks(now.Add(-t.BookmarkPeriod))
}
