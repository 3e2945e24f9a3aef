package actors

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// parked is something that was found of a custom object.
type parked struct {
	storage meta.GroupResource
	replay  func() error
}

// add takes in a collection that is being recovered.
func (r *recovery) add(c *collection) {
	r.trees[c] = new(tree)
	r.store.addCollection(c)
}

// park puts off what is of no kind that is known yet, until the definitions are there.
func (r *recovery) park(key string, replay func() error) bool {
	place, err := meta.ParseKey(key)
	if err != nil || r.store.all()[place.GroupResource] != nil {
		return false
	}
	r.parked = append(r.parked, parked{place.GroupResource, replay})
	return true
}

// custom serves the kinds that definitions make, and takes in what was parked. Objects without
// a definition, which should not be, are kept as they are.
func (r *recovery) custom() error {
	s := r.store
	changed := map[meta.GroupResource]uint64{} // the version of the definition
	for _, o := range r.trees[s.definitions()].Values() {
		tree, err := codec.DecodeStored(s.definitions().kind().Message, o.JSON)
		if err != nil {
			return fmt.Errorf("definition %s: %w", o.Key.Name, err)
		}
		d := s.catalog.Compile(tree)
		if d == nil || !established(tree) {
			continue
		}
		s.catalog.Define(d)
		r.add(s.newCollection(d.Stored.Storage, d.Stored))
		changed[d.Stored.Storage] = o.Version
	}
	for _, p := range r.parked {
		if s.all()[p.storage] == nil {
			r.add(s.newCollection(p.storage, s.catalog.Opaque(p.storage)))
		}
		if err := p.replay(); err != nil {
			return err
		}
	}
	r.parked = nil
	for storage, version := range changed {
		r.reform(s.all()[storage], version)
	}
	return nil
}

// reform brings what is older than its definition into today's form.
func (r *recovery) reform(c *collection, version uint64) {
	k, objects := c.kind(), r.trees[c]
	for _, path := range objects.Keys() {
		if o, _ := objects.Get(path); o.Version < version || !formed(k, o) {
			objects.Set(path, c.reformed(k, o))
		}
	}
	for _, record := range r.news[c] {
		if !formed(k, record.object) {
			record.object = c.reformed(k, record.object)
		}
		if record.previous != nil && !formed(k, record.previous) {
			record.previous = c.reformed(k, record.previous)
		}
	}
}

// formed tells whether an object says that it is of a kind.
func formed(k *schema.Kind, o *meta.Object) bool {
	begin := `{"kind":"` + k.Kind + `","apiVersion":"` + k.APIVersion() + `",`
	return len(o.JSON) > len(begin) && string(o.JSON[:len(begin)]) == begin
}

// established tells whether the kinds of a definition have been served.
func established(definition schema.Tree) bool {
	return slices.ContainsFunc(rules.Trees(rules.Sub(definition, "status"), "conditions"), func(c schema.Tree) bool {
		return c["type"] == "Established" && c["status"] == "True"
	})
}
