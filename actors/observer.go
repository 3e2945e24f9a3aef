package actors

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Observer keeps up with all changes, such as who counts what a namespace uses.
type Observer interface {
	// Observe is called with every change of an object, whoever made it, in the order of the versions of its
	// collection: before readers see the change, before its writer is answered, and before what was set
	// aside for it is committed. A Reservation may account for its change itself (Reservation.OnPublish).
	// old is nil for a new object, now for one that is gone. Objects are shared. It is called by the
	// owner of the collection, must not block nor use the store, and many collections call it at once.
	Observe(k *schema.Kind, version uint64, old, now *meta.Object)
}

// observe tells the observer of a change that is in the working index.
func (p *publisher) observe(c *change, old *meta.Object) {
	if p.store.observer == nil {
		return
	}
	now := c.object
	if c.remove {
		now = nil
	}
	if old == nil && now == nil {
		return
	}
	if c.proposal != nil {
		if reserved := c.proposal.candidate.Reserved; reserved != nil && reserved.OnPublish != nil {
			reserved.OnPublish(p.kind(), c.object.Version, old, now)
			return
		}
	}
	p.store.observer.Observe(p.kind(), c.object.Version, old, now)
}

// snapshotRequest asks a publisher for its snapshot between two batches.
type snapshotRequest struct{ reply chan *snapshot }

// Scan calls visit with every object of a resource in a namespace, by the name of its storage. It sees
// the objects as they are when what the Observer has been told, and nothing else, is visible; version is that of
// the newest change then, 0 if there was none.
func (s *Store) Scan(ctx context.Context, storage meta.GroupResource, namespace string, visit func(*schema.Kind, *meta.Object)) (version uint64, err error) {
	c := s.allCollections()[storage]
	if c == nil {
		return 0, nil
	}
	ask := snapshotRequest{make(chan *snapshot, 1)}
	c.publisher.Send(ask)
	select {
	case state := <-ask.reply:
		k := c.kind()
		state.scan(namespace, "", func(_ string, o *meta.Object) bool {
			visit(k, o)
			return true
		})
		return state.version, nil
	case <-s.stop:
		return 0, errStopped
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
