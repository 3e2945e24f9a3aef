package actors

import (
	"fmt"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
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
		tree, err := codec.DecodeStored(c.kind().Message, o.JSON)
		if err != nil {
			c.store.logger.Error("a stored object cannot be read", "key", o.Key.String(), "error", err)
			return true
		}
		for _, cause := range c.allocator.Restore(o.Key, tree) {
			c.store.logger.Warn("an object has what another one has too", "key", o.Key.String(), "field", cause.Field, "cause", cause.Message)
		}
		return true
	})
}
