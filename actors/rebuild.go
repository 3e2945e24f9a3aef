package actors

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/actors/internal/runtime"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist"
)

// rebuilt is the state of a collection after the store has read all objects again (Rebuild). Reads
// use the old state until this one is published.

type rebuilt struct {
	objects     map[string]*meta.Object // by path
	version     uint64                  // version of the state
	publication *publication
}

// Reject marks the rebuild as applied, because the collection was removed.
func (r *rebuilt) Reject(error) { r.publication.applied.done(r.publication) }

var _ runtime.Rejectable = (*rebuilt)(nil)

// Rebuild sends each collection its objects at revision upTo. The log calls it instead of
// publishBatch after it has dropped changes.
func (s publishedState) Rebuild(upTo persist.Revision, items func(yield func(persist.Item) error) error) error {
	parts := map[*collection]map[string]*meta.Object{}
	var unreadable []*Unreadable
	err := items(func(i persist.Item) error {
		c, object, reason := s.store.rebuildItem(i)
		if reason != nil {
			unreadable = append(unreadable, newUnreadable(i, reason))
			return nil
		}
		if parts[c] == nil {
			parts[c] = map[string]*meta.Object{}
		}
		parts[c][path(object.Key.Namespace, object.Key.Name)] = object
		return nil
	})
	if err != nil {
		return err
	}
	s.store.quarantine.replace(unreadable)
	s.store.logUnreadable()
	all := s.store.allCollections()
	publication := s.store.appliedRevision.begin(uint64(upTo), len(all))
	for _, c := range all {
		c.publisher.Send(&rebuilt{parts[c], uint64(upTo), publication})
	}
	return nil
}

func (s *Store) rebuildItem(i persist.Item) (*collection, *meta.Object, error) {
	key, err := meta.ParseKey(i.Key)
	if err = errors.Join(i.Err, err); err != nil {
		return nil, nil, err
	}
	c := s.ensureCollection(key.GroupResource, func() *schema.Kind { return s.catalog.Opaque(key.GroupResource) })
	object, err := codec.NewObject(c.kind(), key, uint64(i.Revision), i.Value)
	return c, object, err
}

// rebuild publishes each difference between the old and the new state like a change by another
// writer. The history restarts at the new state, so watches get 410.
func (p *publisher) rebuild(b *rebuilt) {
	defer func() {
		if reason := recover(); reason != nil {
			p.store.fail(fmt.Errorf("rebuilding %s: %v", p.storage, reason))
		}
	}()
	now := p.store.now()
	for _, old := range p.working.Values() {
		if at := path(old.Key.Namespace, old.Key.Name); b.objects[at] == nil {
			p.apply(&change{
				path: at, object: withVersion(old, b.version), kind: p.kind(), remove: true, time: now, unreadable: p.store.quarantine.get(old.Key),
			})
		}
	}
	changed := make([]*meta.Object, 0, len(b.objects))
	for at, o := range b.objects {
		// After a restore, the same version may have different content.
		if old, _ := p.working.Get(at); old == nil || old.Version != o.Version || !bytes.Equal(old.JSON, o.JSON) {
			changed = append(changed, o)
		}
	}
	slices.SortFunc(changed, func(a, b *meta.Object) int { return cmp.Compare(a.Version, b.Version) })
	for _, o := range changed {
		p.apply(&change{path: path(o.Key.Namespace, o.Key.Name), object: p.withSelectableFields(o), kind: p.kind(), time: now})
	}
	p.store.retention.truncate(p.history, b.version)
	p.snapshotCache.clear()
	p.published.Store(&snapshot{objects: p.working.Copy(), fieldIndexes: shareFieldIndexes(p.fieldIndexes), version: b.version})
	p.watchers.each(func(w *watch) { w.ref.Send(wakeUp{}) })
	p.store.appliedRevision.done(b.publication)
}
