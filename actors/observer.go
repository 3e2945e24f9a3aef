package actors

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// An Observer receives all changes, for example to count the usage of a namespace.
type Observer interface {
	// Observe is called for every change by any writer, in version order within each collection. It
	// runs before readers see the change, before the writer gets a response, and before the
	// reservation of the change is committed. A Reservation can account for its own change instead
	// (Reservation.OnPublish).
	//
	// old is nil for a new object, and now is nil for a deleted one. Both are shared and immutable.
	// Observe is called concurrently for different collections. It must not block or use the store.
	Observe(k *schema.Kind, version uint64, old, now *meta.Object)
}

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

type snapshotRequest struct{ reply chan *snapshot }

// Scan calls visit with every object of a storage kind in a namespace. The objects reflect exactly
// the changes passed to the Observer so far. version is the version of the newest of these changes,
// or 0 if there are none.
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
