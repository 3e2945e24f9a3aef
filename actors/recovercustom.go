package actors

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// add takes in a collection that is being recovered.
func (r *recovery) add(c *collection) {
	r.trees[c] = new(tree)
	c.history = newHistory(0, r.store.retained)
	r.store.addCollection(c)
}

// decode reads a value of the log. What is of no kind that is known yet gets a collection of
// objects of which only the head is known, until the definitions are there.
func (r *recovery) decode(key string, revision persist.Revision, value []byte) (*collection, *meta.Object, error) {
	if place, err := meta.ParseKey(key); err == nil && r.store.all()[place.GroupResource] == nil {
		r.add(r.store.newCollection(place.GroupResource, r.store.catalog.Opaque(place.GroupResource)))
	}
	return r.store.decode(key, revision, value)
}

// custom serves the kinds that definitions make, and tells the collections of their objects what
// they are of. Objects without a definition, which should not be, are kept as they are.
func (r *recovery) custom() error {
	s := r.store
	for _, o := range r.trees[s.definitions()].Values() {
		tree, err := codec.DecodeStored(s.definitions().kind().Message, o.JSON)
		if err != nil {
			s.setAside(o.Key.String(), persist.Revision(o.Version), o.JSON, err)
			r.trees[s.definitions()].Delete(path("", o.Key.Name))
			continue
		}
		d := s.catalog.Compile(tree)
		if d == nil || !established(tree) {
			continue
		}
		c := s.all()[d.Stored.Storage]
		if c != nil && (!c.kind().Custom() || c.kind().Kind != "") {
			continue // of a built-in kind, or of another definition already
		}
		s.catalog.Define(d)
		if c == nil {
			r.add(s.newCollection(d.Stored.Storage, d.Stored))
			continue
		}
		c.form.Store(d.Stored)
		r.reform(c)
	}
	return nil
}

// reform gives what was found in a collection, whose kind is known now, the heads that the kind
// asks for. It changes objects where they are, since index and history share them.
func (r *recovery) reform(c *collection) {
	head := func(o *meta.Object) { o.Item, o.Head.Fields = c.kind().Item, c.selectable(o).Head.Fields }
	for _, o := range r.trees[c].Values() {
		head(o)
	}
	r.past.revise(c.history, head)
}

// established tells whether the kinds of a definition have been served.
func established(definition schema.Tree) bool {
	return slices.ContainsFunc(rules.Trees(rules.Sub(definition, "status"), "conditions"), func(c schema.Tree) bool {
		return c["type"] == "Established" && c["status"] == "True"
	})
}
