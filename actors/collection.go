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

// collection is what everyone sees of the objects of one storage: the published snapshot, the history,
// and the watches. Its actor, the publisher, is the only one that writes to snapshot and history.
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

// kind is the kind by which stored objects are read. For a custom kind it changes with the definition.
func (c *collection) kind() *schema.Kind { return c.currentKind.Load() }

// prefix is what the keys of the collection begin with in the log.
func (c *collection) prefix() string { return c.storage.Group + "/" + c.storage.Resource + "/" }

// publisher is the actor that owns a collection's index and history. A panic while it
// publishes ends the process: what is durable must not stay invisible.
type publisher struct {
	*collection
	working      *objectIndex // the next snapshot,
	fieldIndexes []fieldIndex // and its indexes by field
	records      []*record    // of the batch that is being published; kept for its memory
}

// changes is the part of a committed batch that belongs to one collection.
type changes struct {
	records     []change
	publication *publication
}

// Reject implements runtime.Rejectable: the collection has been removed. Another daemon may still have written to it.
func (b *changes) Reject(error) { b.publication.applied.done(b.publication) }

// change is one committed write on its way to publication.
type change struct {
	path     string // of the object; shares the memory of its key
	object   *meta.Object
	kind     *schema.Kind // stored, by which the object was written or read
	remove   bool
	time     time.Time
	proposal *proposal // nil for the write of another daemon
	// nameOnly says that the last state of a removal could not be read: object has only its name.
	nameOnly bool
	// unreadable is the new state if it could not be read. The object is then gone for readers.
	unreadable *Unreadable
}

// tick tells a publisher the time, once a second, for what expires.
type tick struct{ now time.Time }

// Receive implements runtime.Owner.
func (p *publisher) Receive(_ *runtime.Ref, message any) {
	switch m := message.(type) {
	case runtime.Started:
		p.working, p.fieldIndexes = fork(p.published.Load().objects), forkFieldIndexes(p.published.Load().fieldIndexes)
	case *changes:
		p.publish(m)
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

// publish makes a batch visible, then wakes watchers and answers writers.
func (p *publisher) publish(b *changes) {
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
	p.watchers.wake(p.records, p.store.runtime)
	clear(p.records)
	p.records = p.records[:0]
	p.store.appliedRevision.done(b.publication)
	for i := range b.records {
		if f := b.records[i].proposal; f != nil {
			f.markApplied(b.records[i].object)
		}
	}
}

// apply puts one change into the working index, and answers the record of it for the history; nil if
// no reader can tell.
func (p *publisher) apply(c *change) *record {
	if c.kind != p.kind() { // computed before the definition changed
		c.object = p.withSelectableFields(c.object)
	}
	r := &record{version: c.object.Version, time: c.time, kind: changed, object: c.object}
	at := c.path
	p.updateQuarantine(c)
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

// updateQuarantine puts a state that cannot be read into the quarantine, or takes out what another
// state replaces.
func (p *publisher) updateQuarantine(c *change) {
	if c.unreadable != nil {
		p.store.quarantine.put(c.unreadable)
	} else if p.store.quarantine.size.Load() > 0 {
		p.store.quarantine.drop(c.object.Key.String())
	}
}

// tick drops old cached snapshots, stops idle actors of objects, and sends bookmarks that are due.
func (p *publisher) tick(now time.Time) {
	t := p.store.tuning
	p.snapshotCache.expire(now.Add(-t.HistoryTime))
	p.snapshotCache.dropBelow(p.history.floor.Load())
	p.passivate(now.Add(-t.IdleTime))
	p.watchers.sendBookmarks(now.Add(-t.BookmarkPeriod))
}
