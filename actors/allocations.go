package actors

import (
	"fmt"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

// setAllocators gives collections the allocators of what their objects share, and reserves what the
// recovered objects hold.
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

// restoreAllocations reserves what every object holds. Two objects that hold the same both keep it, and one
// that cannot be read holds nothing: that is logged, since a server that does not start could repair
// neither.
func (c *collection) restoreAllocations() {
	c.published.Load().scan("", "", func(_ string, o *meta.Object) bool {
		for _, cause := range c.allocator.Observe(o.Key, nil, c.storedTree(o)) {
			c.store.logger.Warn("an object has what another one has too", "key", o.Key.String(), "field", cause.Field, "cause", cause.Message)
		}
		return true
	})
}

// observeAllocation accounts for what an object has after the commit of another writer. Somebody here
// may have set the same aside meanwhile; the log refuses their write then, for its claims.
func (c *collection) observeAllocation(r *record, remove bool) {
	if c.allocator == nil {
		return
	}
	var old, stored tree.Tree
	if r.previous != nil {
		old = c.storedTree(r.previous)
	}
	if !remove {
		stored = c.storedTree(r.object)
	}
	c.allocator.Observe(r.object.Key, old, stored)
}

// storedTree decodes a stored object; nil if it cannot be read.
func (c *collection) storedTree(o *meta.Object) tree.Tree {
	stored, err := codec.DecodeStored(c.kind().Message(), o.JSON)
	if err != nil {
		c.store.logger.Error("a stored object cannot be read", "key", o.Key.String(), "error", err)
		return nil
	}
	return stored
}

// guardsOf are the sums that a change was computed on.
func guardsOf(r request.Reservation) []persist.Guard {
	g, ok := r.(request.Guarded)
	if !ok {
		return nil
	}
	all := g.Guards()
	if len(all) == 0 {
		return nil
	}
	guards := make([]persist.Guard, len(all))
	for i, one := range all {
		guards[i] = persist.Guard{Name: one.Name, Seen: persist.Revision(one.Seen), Raise: one.Raise}
	}
	return guards
}

// claimsOf is what the log has to check of what was set aside for a change.
func claimsOf(r request.Reservation) []persist.Claim {
	c, ok := r.(request.Claimant)
	if !ok {
		return nil
	}
	taken, released := c.Claims()
	if len(taken)+len(released) == 0 {
		return nil
	}
	claims := make([]persist.Claim, 0, len(taken)+len(released))
	for _, name := range taken {
		claims = append(claims, persist.Claim{Name: name})
	}
	for _, name := range released {
		claims = append(claims, persist.Claim{Name: name, Release: true})
	}
	return claims
}
