package actors

import (
	"fmt"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
)

// claim gives collections what their objects share, and takes out of it what the
// objects that were recovered have.
func (s *Store) claim(all map[meta.GroupResource]mutation.Claims) error {
	for storage, claims := range all {
		c := s.all()[storage]
		if c == nil {
			return fmt.Errorf("claims of %s: no such kind is stored", storage)
		}
		c.claims = claims
		if err := c.reclaim(); err != nil {
			return err
		}
	}
	return nil
}

// reclaim restores what every object has. Two that have the same both keep it: refusing to
// start would help nobody.
func (c *collection) reclaim() (err error) {
	c.published.Load().scan("", "", func(_ string, o *meta.Object) bool {
		tree, _, fault := codec.DecodeJSON(c.kind().Message, o.JSON)
		if fault != nil {
			err = fmt.Errorf("stored object %s: %w", o.Key, fault)
			return false
		}
		for _, cause := range c.claims.Restore(o.Key, tree) {
			c.store.logger.Warn("an object has what another one has too", "key", o.Key.String(), "field", cause.Field, "cause", cause.Message)
		}
		return true
	})
	return err
}
