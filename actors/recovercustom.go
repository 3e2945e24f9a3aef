package actors

import (
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist"
)

func (r *recovery) newCollection(storage meta.GroupResource, k *schema.Kind) *collection {
	c := r.store.newCollection(storage, k)
	r.trees[c] = new(objectIndex)
	c.history = newHistory(r.floor, r.store.retention)
	return c
}

func (r *recovery) addCollection(storage meta.GroupResource, k *schema.Kind) {
	r.store.addCollection(r.newCollection(storage, k))
}

// registerCustomKinds adds the kinds of the recovered CRDs to the catalog, and creates their
// collections. Objects without a CRD, which should not exist, are kept unchanged.
func (r *recovery) registerCustomKinds() error {
	s := r.store
	for _, o := range r.trees[s.definitions()].Values() {
		outline, err := s.catalog.Outline(o)
		if err != nil {
			s.addToQuarantine(o.Key.String(), persist.Revision(o.Version), o.JSON, err)
			r.trees[s.definitions()].Delete(path("", o.Key.Name))
			continue
		}
		d := s.catalog.Compile(outline)
		if d == nil || !tree.IsConditionTrue(outline.Object("status"), "Established") {
			continue
		}
		c := s.allCollections()[d.Stored.Storage]
		if c != nil && (!c.kind().IsCustom() || c.kind().Kind != "") {
			continue // a built-in kind, or the kind of another CRD
		}
		s.catalog.AddDefinition(d)
		if c == nil {
			r.addCollection(d.Stored.Storage, d.Stored)
			continue
		}
		c.currentKind.Store(d.Stored)
		r.migrateSchema(c)
	}
	return nil
}

// migrateSchema adds the values of the selectable fields to the objects of a collection, once its
// kind is known. It modifies the objects in place, because the index and the history share them.
func (r *recovery) migrateSchema(c *collection) {
	head := func(o *meta.Object) {
		o.Meta.Fields = c.withSelectableFields(o).Meta.Fields
	}
	for _, o := range r.trees[c].Values() {
		head(o)
	}
	r.history.updateObjects(c.history, head)
}
