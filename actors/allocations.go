package actors

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

func (s *Store) setAllocators(all map[meta.GroupResource]mutation.Allocator) error {
	for storage, allocator := range all {
		c := s.allCollections()[storage]
		if c == nil {
			return fmt.Errorf("claims of %s: no such kind is stored", storage)
		}
		c.allocator = allocator
		c.restoreAllocations()
	}
	return nil
}

// restoreAllocations reserves the values of all stored objects. It only logs unreadable objects and
// duplicate values, because only a running server can repair them. A duplicate value stays reserved
// for both objects.
func (c *collection) restoreAllocations() {
	c.published.Load().scan("", "", func(_ string, o *meta.Object) bool {
		for _, cause := range c.allocator.Observe(o.Key, nil, c.storedTree(o)) {
			c.store.logger.Warn("two objects have the same allocation", "key", o.Key.String(), "field", cause.Field, "cause", cause.Message)
		}
		return true
	})
}

// observeAllocation records another server's commit in the allocator. If this server has reserved
// the same value for a pending write, the log rejects that write because its claim conflicts.
func (c *collection) observeAllocation(r *record) {
	if c.allocator == nil {
		return
	}
	var old, stored tree.Tree
	if r.previous != nil {
		old = c.storedTree(r.previous)
	}
	if r.kind != removed {
		stored = c.storedTree(r.object)
	}
	c.allocator.Observe(r.object.Key, old, stored)
}

func (c *collection) storedTree(o *meta.Object) tree.Tree {
	stored, err := codec.DecodeStored(c.kind().Message(), o.JSON)
	if err != nil {
		c.store.logger.Error("cannot decode a stored object", "key", o.Key.String(), "error", err)
		return nil
	}
	return stored
}

func addReserved(w *persist.Write, r *request.Reservation) {
	w.Claims, w.Guards = slices.Grow(w.Claims, len(r.Claims)), slices.Grow(w.Guards, len(r.Guards))
	for _, c := range r.Claims {
		w.Claims = append(w.Claims, persist.Claim(c))
	}
	for _, g := range r.Guards {
		w.Guards = append(w.Guards, persist.Guard{Name: g.Name, Seen: persist.Revision(g.Seen), Raise: g.Raise})
	}
}
