package actors

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// The collections of custom kinds come while the store is open. They never go: one whose kind is
// not defined any more is empty, and waits for the next definition of its name.

// RegisterKind takes a kind into the store before it is served: its objects find a collection, and
// those that are there count as its own, though they stay as they were written. Watches of the kind that
// was there before end. Only one goroutine may call it at a time.
func (s *Store) RegisterKind(k *schema.Kind) {
	c := s.collection(k)
	if c == nil {
		c = s.newCollection(k.Storage, k)
		c.history = newHistory(s.appliedRevision.get(), s.retention)
		c.published.Store(&snapshot{objects: new(objectIndex), fieldIndexes: newFieldIndexes(k, new(objectIndex))})
		s.startPublisher(c)
		s.addCollection(c)
		return
	}
	if c.kind() == k {
		return
	}
	if !c.kind().Custom() { // which a definition never gets its hands on
		s.logger.Error("a definition names a built-in kind", "definition", k.Definition, "kind", c.kind().Kind)
		return
	}
	done := make(chan struct{})
	c.publisher.Send(migrateSchema{k, done})
	<-done
	c.endWatches()
}

// UnregisterKind ends the watches of a kind that is not defined any more.
func (s *Store) UnregisterKind(k *schema.Kind) {
	if c := s.collection(k); c != nil {
		c.endWatches()
	}
}

func (c *collection) endWatches() { c.watchers.each(func(w *watch) { w.Stop() }) }

func (s *Store) newCollection(storage meta.GroupResource, k *schema.Kind) *collection {
	c := &collection{store: s, storage: storage, activations: activations{byPath: make(map[string]*activation)}}
	c.currentKind.Store(k)
	return c
}

// addCollection makes a collection known to all.
func (s *Store) addCollection(c *collection) {
	all := maps.Clone(s.allCollections())
	all[c.storage] = c
	s.collections.Store(&all)
}

// allCollections are the collections by storage.
func (s *Store) allCollections() map[meta.GroupResource]*collection { return *s.collections.Load() }

// migrateSchema brings a collection into the form of another kind.
type migrateSchema struct {
	kind *schema.Kind
	done chan struct{}
}

// migrateSchema takes objects for those of another kind. They stay as they were written: what they mean
// now is found when they are read (shown). But what selectors find is kept in their heads: where
// fields are selectable, those are made anew, and the past is of no use any more.
func (p *publisher) migrateSchema(r migrateSchema) {
	defer close(r.done)
	defer func() {
		if reason := recover(); reason != nil {
			p.store.fail(fmt.Errorf("another form for %s: %v", p.storage, reason))
		}
	}()
	previous := p.kind()
	p.currentKind.Store(r.kind)
	if len(previous.SelectFields) == 0 && len(r.kind.SelectFields) == 0 {
		return
	}
	for _, o := range p.working.Values() {
		p.working.Set(path(o.Key.Namespace, o.Key.Name), p.withSelectableFields(o))
	}
	p.fieldIndexes = newFieldIndexes(r.kind, p.working)
	version := p.published.Load().version
	p.store.retention.truncate(p.history, version)
	p.snapshotCache.expire(time.Unix(1<<40, 0))
	p.published.Store(&snapshot{objects: p.working.Copy(), fieldIndexes: shareFieldIndexes(p.fieldIndexes), version: version})
}

// withSelectableFields is an object with the fields in its head that selectors find it by, in the form of its
// kind; the object itself if it has them. Of one that cannot be read they are empty.
func (c *collection) withSelectableFields(o *meta.Object) *meta.Object {
	k := c.kind()
	if !k.Custom() || len(k.SelectFields) == 0 && len(o.Meta.Fields) == 0 {
		return o
	}
	fields := make([]string, len(k.SelectFields))
	now, err := convert.ToCurrentSchema(k, o)
	if err == nil {
		var head meta.ObjectMeta
		if head, _, err = codec.ParseMeta(k, now.JSON); err == nil {
			fields = head.Clone().Fields
		}
	}
	if err != nil {
		c.store.logger.Error("a custom object cannot be read", "key", o.Key.String(), "error", err)
	}
	if slices.Equal(fields, o.Meta.Fields) {
		return o
	}
	out := &meta.Object{Key: o.Key, Version: o.Version, JSON: o.JSON, ItemOffset: o.ItemOffset, Meta: o.Meta}
	out.Meta.Fields = fields
	return out
}

// definitions is the collection of the objects that define kinds; nil if there is none.
func (s *Store) definitions() *collection {
	return s.allCollections()[meta.GroupResource{Group: s.naming.Group("apiextensions"), Resource: "customresourcedefinitions"}]
}

// definitionPrecondition is what a create of a custom object depends on: its definition, as it was seen. So
// nothing comes into being of a kind that is about to go.
func (s *Store) definitionPrecondition(m *request.Mutation) (createPrecondition, error) {
	definition := s.definitions().published.Load().get(path("", m.Kind.Definition))
	if definition == nil {
		return createPrecondition{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	if definition.Meta.Terminating {
		refused := meta.NewMethodNotAllowed()
		refused.Message = "create not allowed while custom resource definition is terminating"
		if m.Verb == request.Create {
			return createPrecondition{}, refused
		}
		return createPrecondition{refusal: refused}, nil
	}
	return createPrecondition{conditions: []persist.Condition{{Key: definition.Key.String(), Revision: persist.Revision(definition.Version)}}}, nil
}
