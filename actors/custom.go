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

// Adopt takes a kind into the store before it is served: its objects find a collection, and
// those that are there count as its own, though they stay as they were written. Watches of the kind that
// was there before end. Only one goroutine may call it at a time.
func (s *Store) Adopt(k *schema.Kind) {
	c := s.collection(k)
	if c == nil {
		c = s.newCollection(k.Storage, k)
		c.history = newHistory(s.horizon.now(), s.retained)
		c.published.Store(&snapshot{objects: new(tree), lookups: newLookups(k, new(tree))})
		s.launchCollection(c)
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
	s.system.Root.Send(c.pid, reform{k, done})
	<-done
	c.endWatches()
}

// Abandon ends the watches of a kind that is not defined any more.
func (s *Store) Abandon(k *schema.Kind) {
	if c := s.collection(k); c != nil {
		c.endWatches()
	}
}

func (c *collection) endWatches() { c.watchers.each(func(l *link) { l.Stop() }) }

func (s *Store) newCollection(storage meta.GroupResource, k *schema.Kind) *collection {
	c := &collection{store: s, storage: storage, objects: residents{byPath: make(map[string]*resident)}}
	c.form.Store(k)
	return c
}

// addCollection makes a collection known to all.
func (s *Store) addCollection(c *collection) {
	all := maps.Clone(s.all())
	all[c.storage] = c
	s.collections.Store(&all)
}

// all are the collections by storage.
func (s *Store) all() map[meta.GroupResource]*collection { return *s.collections.Load() }

// reform brings a collection into the form of another kind.
type reform struct {
	kind *schema.Kind
	done chan struct{}
}

// reform takes objects for those of another kind. They stay as they were written: what they mean
// now is found when they are read (shown). But what selectors find is kept in their heads: where
// fields are selectable, those are made anew, and the past is of no use any more.
func (p *publisher) reform(r reform) {
	defer close(r.done)
	defer func() {
		if reason := recover(); reason != nil {
			p.store.fail(fmt.Errorf("another form for %s: %v", p.storage, reason))
		}
	}()
	was := p.kind()
	p.form.Store(r.kind)
	if len(was.SelectFields) == 0 && len(r.kind.SelectFields) == 0 {
		return
	}
	for _, o := range p.working.Values() {
		p.working.Set(path(o.Key.Namespace, o.Key.Name), p.selectable(o))
	}
	p.lookups = newLookups(r.kind, p.working)
	version := p.published.Load().version
	p.store.retained.forget(p.history, version)
	p.pins.expire(time.Unix(1<<40, 0))
	p.published.Store(&snapshot{objects: p.working.Copy(), lookups: shareLookups(p.lookups), version: version})
}

// selectable is an object with the fields in its head that selectors find it by, in the form of its
// kind; the object itself if it has them. Of one that cannot be read they are empty.
func (c *collection) selectable(o *meta.Object) *meta.Object {
	k := c.kind()
	if !k.Custom() || len(k.SelectFields) == 0 && len(o.Head.Fields) == 0 {
		return o
	}
	fields := make([]string, len(k.SelectFields))
	now, err := convert.Current(k, o)
	if err == nil {
		var head meta.Head
		if head, _, err = codec.ParseHead(k, now.JSON); err == nil {
			fields = head.Clone().Fields
		}
	}
	if err != nil {
		c.store.logger.Error("a custom object cannot be read", "key", o.Key.String(), "error", err)
	}
	if slices.Equal(fields, o.Head.Fields) {
		return o
	}
	out := &meta.Object{Key: o.Key, Version: o.Version, JSON: o.JSON, Item: o.Item, Head: o.Head}
	out.Head.Fields = fields
	return out
}

// definitions is the collection of the objects that define kinds; nil if there is none.
func (s *Store) definitions() *collection {
	return s.all()[meta.GroupResource{Group: s.naming.Group("apiextensions"), Resource: "customresourcedefinitions"}]
}

// defined is what a create of a custom object depends on: its definition, as it was seen. So
// nothing comes into being of a kind that is about to go.
func (s *Store) defined(m *request.Mutation) (home, error) {
	definition := s.definitions().published.Load().get(path("", m.Kind.Definition))
	if definition == nil {
		return home{}, meta.NewNotFound(resource(m.Kind), m.Key.Name)
	}
	if definition.Head.Terminating {
		refused := meta.NewMethodNotAllowed()
		refused.Message = "create not allowed while custom resource definition is terminating"
		if m.Verb == request.Create {
			return home{}, refused
		}
		return home{refusal: refused}, nil
	}
	return home{conditions: []persist.Condition{{Key: definition.Key.String(), Revision: persist.Revision(definition.Version)}}}, nil
}
