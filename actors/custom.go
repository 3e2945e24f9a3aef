package actors

import (
	"fmt"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// Collections of custom resources are added while the store is open, and removed once their CRD has
// been deleted and they are empty.

// RegisterKind adds the collection of a kind. It must be called before the kind is served. If the
// collection exists, the new kind replaces the previous one, but stored objects are not rewritten.
// RegisterKind also ends watches of the previous kind.
func (s *Store) RegisterKind(k *schema.Kind) {
	s.registeringKind.Lock()
	defer s.registeringKind.Unlock()
	c := s.ensureCollection(k.Storage, func() *schema.Kind { return k })
	if c.kind() == k {
		return
	}
	if !c.kind().IsCustom() { // no CRD may replace a built-in kind
		s.logger.Error("a CustomResourceDefinition has the name of a built-in kind", "definition", k.Origin.Definition, "kind", c.kind().Kind)
		return
	}
	done := make(chan struct{})
	c.publisher.Send(migrateSchema{k, done})
	<-done
	c.endWatches()
}

// UnregisterKind ends the watches of a kind whose CRD was deleted, and removes its collection if it
// is empty. Only objects written by another server can remain. UnregisterKind does nothing if the
// kind has been registered again.
func (s *Store) UnregisterKind(k *schema.Kind) {
	s.registeringKind.Lock()
	defer s.registeringKind.Unlock()
	c := s.collection(k)
	if c == nil || c.kind() != k {
		return
	}
	c.endWatches()
	if len(s.quarantine.of(c.storage, "")) > 0 {
		return
	}
	empty := make(chan bool, 1)
	c.publisher.Send(isEmpty{empty})
	if <-empty {
		s.removeCollection(c)
	}
}

type isEmpty struct{ reply chan<- bool }

// Reject is called while the store is closing. It replies false, because a collection need not be
// removed during shutdown.
func (m isEmpty) Reject(error) { m.reply <- false }

// removeCollection removes an empty collection and stops its actors. Its history is kept until it
// expires, because watches that are ending may still read it.
func (s *Store) removeCollection(c *collection) {
	s.addingCollection.Lock()
	all := maps.Clone(s.allCollections())
	delete(all, c.storage)
	s.collections.Store(&all)
	s.addingCollection.Unlock()
	for _, a := range c.activations.close() {
		a.ref.Stop()
	}
	c.endWatches() // a watch may have found the collection before its removal
	c.publisher.Drain()
	c.snapshotCache.clear()
}

func (s *Store) errUndefined(k *schema.Kind) error {
	return meta.NewNotFound(s.definitions().storage, k.Origin.Definition)
}

// endWatches ends each watch after it has delivered all events, because the last ones are the
// deletions of the kind's objects.
func (c *collection) endWatches() { c.watchers.each((*watch).Finish) }

func (s *Store) ensureCollection(storage meta.GroupResource, kind func() *schema.Kind) *collection {
	if c := s.allCollections()[storage]; c != nil {
		return c
	}
	s.addingCollection.Lock()
	defer s.addingCollection.Unlock()
	if c := s.allCollections()[storage]; c != nil {
		return c
	}
	c := s.newCollection(storage, kind())
	c.history = newHistory(s.appliedRevision.get(), s.retention)
	c.published.Store(&snapshot{objects: new(objectIndex), fieldIndexes: newFieldIndexes(c.kind(), new(objectIndex))})
	s.startPublisher(c)
	s.addCollection(c)
	return c
}

func (s *Store) newCollection(storage meta.GroupResource, k *schema.Kind) *collection {
	c := &collection{store: s, storage: storage, activations: activations{byPath: make(map[string]*activation)}}
	c.currentKind.Store(k)
	return c
}

func (s *Store) addCollection(c *collection) {
	all := maps.Clone(s.allCollections())
	all[c.storage] = c
	s.collections.Store(&all)
}

func (s *Store) allCollections() map[meta.GroupResource]*collection { return *s.collections.Load() }

type migrateSchema struct {
	kind *schema.Kind
	done chan struct{}
}

// migrateSchema switches the collection to another version of its CRD. Stored objects are not
// rewritten, but converted when read. Only the selectable fields (ObjectMeta.Fields) are
// recomputed. If the kind has any, the history is dropped, because it contains their previous
// values.
func (p *publisher) migrateSchema(r migrateSchema) {
	defer close(r.done)
	defer func() {
		if reason := recover(); reason != nil {
			p.store.fail(fmt.Errorf("migrating %s to another schema: %v", p.storage, reason))
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
	p.snapshotCache.clear()
	p.published.Store(&snapshot{objects: p.working.Copy(), fieldIndexes: shareFieldIndexes(p.fieldIndexes), version: version})
}

// withSelectableFields returns an object with the current values of its kind's selectable fields,
// or the object itself if they are unchanged. The values of an unreadable object are empty.
func (c *collection) withSelectableFields(o *meta.Object) *meta.Object {
	k := c.kind()
	if !k.IsCustom() || len(k.SelectFields) == 0 && len(o.Meta.Fields) == 0 {
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
		c.store.logger.Error("cannot decode a custom object", "key", o.Key.String(), "error", err)
	}
	if slices.Equal(fields, o.Meta.Fields) {
		return o
	}
	out := withoutMemo(o)
	out.Meta.Fields = fields
	return out
}

func (s *Store) definitions() *collection {
	return s.allCollections()[meta.GroupResource{Group: s.naming.Group("apiextensions"), Resource: "customresourcedefinitions"}]
}

// definitionPrecondition returns the precondition that the CRD has not changed. Creating a custom
// resource must fail while the CRD is being deleted.
func (s *Store) definitionPrecondition(m *request.Mutation) (createPrecondition, error) {
	definition := s.definitions().published.Load().get(path("", m.Kind.Origin.Definition))
	if definition == nil {
		return createPrecondition{}, m.NotFound()
	}
	if definition.Meta.Terminating {
		refused := meta.NewForbidden(m.Kind.GroupResource(), m.Key.Name, "create not allowed while custom resource definition is terminating")
		if request.Is[request.Create](m) {
			return createPrecondition{}, refused
		}
		return createPrecondition{refusal: refused}, nil
	}
	return createPrecondition{conditions: []persist.Condition{{Key: definition.Key.String(), Revision: persist.Revision(definition.Version)}}}, nil
}
