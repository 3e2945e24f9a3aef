package actors

import (
	"context"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/persist"
)

// An Image is the immutable state of a store at one version. A store on a copy of its log starts
// from it without reading the log.
type Image struct {
	version     uint64
	collections []collectionImage
	unreadable  []*Unreadable
}

type collectionImage struct {
	storage meta.GroupResource
	current *snapshot
	records []*record // changes after floor
	floor   uint64
}

// Image returns the state at a version, which must be the newest until Image returns. It returns an
// error if the store does not apply the version in time, for example after a failure.
func (s *Store) Image(ctx context.Context, version uint64) (*Image, error) {
	if err := s.appliedRevision.await(ctx, version); err != nil {
		return nil, err
	}
	i := &Image{version: version, unreadable: s.quarantine.all()}
	for storage, c := range s.allCollections() {
		s.retention.mu.Lock()
		i.collections = append(i.collections, collectionImage{storage, c.published.Load(), c.history.all(), c.history.floor.Load()})
		s.retention.mu.Unlock()
	}
	return i, nil
}

// load starts the recovery from an image. Objects are copied without their memo, whose forms belong
// to one server. The copies share the JSON.
func (r *recovery) load(i *Image) error {
	if _, err := r.store.log.Recover(persist.Recovery{State: publishedState{r.store}}); err != nil {
		return err
	}
	r.last, r.floor = i.version, i.version
	r.store.quarantine.replace(i.unreadable)
	for _, part := range i.collections {
		c := r.store.allCollections()[part.storage]
		if c == nil {
			r.addCollection(part.storage, r.store.catalog.Opaque(part.storage))
			c = r.store.allCollections()[part.storage]
		}
		r.history.newest[c] = part.current.version
		c.history = newHistory(part.floor, r.store.retention)
		copies := make(map[*meta.Object]*meta.Object, part.current.objects.Len())
		part.current.objects.Scan(func(path string, o *meta.Object) bool {
			copies[o] = withoutMemo(o)
			r.trees[c].Load(path, copies[o])
			return true
		})
		copied := func(o *meta.Object) *meta.Object {
			if o != nil && copies[o] == nil {
				copies[o] = withoutMemo(o)
			}
			return copies[o]
		}
		records := make([]*record, len(part.records))
		for i, from := range part.records {
			records[i] = &record{version: from.version, time: from.time, kind: from.kind, object: copied(from.object), previous: copied(from.previous)}
			records[i].computeBytes()
		}
		r.store.retention.append(c.history, records)
	}
	r.store.retention.expire(r.history.oldest)
	return nil
}
