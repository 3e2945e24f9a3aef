package actors

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// The collections of custom kinds come while the store is open. They never go: one whose kind is
// not defined any more is empty, and waits for the next definition of its name.

// Adopt takes a kind into the store before it is served: its objects find a collection, and
// those that are there get the form of the kind, without a new version. Watches of the kind that
// was there before end. Only one goroutine may call it at a time.
func (s *Store) Adopt(k *schema.Kind) {
	c := s.collection(k)
	if c == nil {
		c = s.newCollection(k.Storage, k)
		c.history = newHistory(s.horizon.now())
		c.published.Store(&snapshot{objects: new(tree), lookups: newLookups(k, new(tree))})
		s.launchCollection(c)
		s.addCollection(c)
		return
	}
	if c.kind() == k {
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

// reform makes the objects of the collection those of another kind. Where they look different at
// the root, or other fields are selectable, the past is of no use any more.
func (p *publisher) reform(r reform) {
	defer close(r.done)
	defer func() {
		if reason := recover(); reason != nil {
			p.store.fail(fmt.Errorf("another form for %s: %v", p.storage, reason))
		}
	}()
	was := p.kind()
	var changed []*meta.Object
	p.working.Scan(func(_ string, o *meta.Object) bool {
		if now := p.reformed(r.kind, o); now != o {
			changed = append(changed, now)
		}
		return true
	})
	for _, o := range changed {
		p.working.Set(path(o.Key.Namespace, o.Key.Name), o)
	}
	p.form.Store(r.kind)
	p.lookups = newLookups(r.kind, p.working)
	version := p.published.Load().version
	if was.GroupVersionKind != r.kind.GroupVersionKind || !slices.Equal(was.SelectFields, r.kind.SelectFields) {
		p.history.forget(version)
		p.pins.expire(time.Unix(1<<40, 0))
	}
	p.published.Store(&snapshot{objects: p.working.Copy(), lookups: shareLookups(p.lookups), version: version})
}

// reformed is an object in the form of a kind; the object itself if that is its form. One that
// cannot be read stays as it is.
func (c *collection) reformed(k *schema.Kind, o *meta.Object) *meta.Object {
	tree, _, err := codec.DecodeJSON(k.Message, o.JSON)
	if err == nil {
		rules.Default(k, tree)
		json := codec.EncodeJSON(k, tree).WithVersion(o.Version)
		if string(json) == string(o.JSON) {
			json = o.JSON
			if o.Item == k.Item && len(o.Head.Fields) == 0 && len(k.SelectFields) == 0 {
				return o
			}
		}
		var now *meta.Object
		if now, err = codec.NewObject(k, o.Key, o.Version, json); err == nil {
			return now
		}
	}
	c.store.logger.Error("a custom object cannot be read", "key", o.Key.String(), "error", err)
	return o
}

// forget drops the past up to a version. Who has read it all goes on.
func (h *history) forget(version uint64) {
	chunks := *h.chunks.Load()
	fresh := newChunk()
	fresh.first = version + 1
	chunks[len(chunks)-1].next.Store(fresh)
	h.floor.Store(max(version, h.floor.Load()))
	h.chunks.Store(&[]*chunk{fresh})
	h.bytes.Store(0)
	for _, c := range chunks {
		c.records.Store(nil)
	}
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
