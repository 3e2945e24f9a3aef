package actors

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Change is a committed change of an object. Its objects are shared and immutable.
type Change struct {
	Verb    string       // create, update or delete
	Kind    *schema.Kind // stored
	Version uint64
	// Object is the new state. For a delete, it is the last state, with the version of the delete.
	Object *meta.Object
	// Previous is nil for a create, and may be missing for a change from before a restart.
	Previous *meta.Object
}

var changeVerbs = [...]string{created: "create", changed: "update", removed: "delete"}

func newChange(k *schema.Kind, r *record) Change {
	return Change{changeVerbs[r.kind], k, r.version, r.object, r.previous}
}

// RecentChanges calls visit with the changes in the watch histories, in version order within each
// collection.
func (s *Store) RecentChanges(visit func(Change)) {
	for _, c := range s.allCollections() {
		for _, part := range *c.history.chunks.Load() {
			for i := range part.n.Load() {
				if r := part.record(i); r != nil {
					visit(newChange(c.kind(), r))
				}
			}
		}
	}
}

// A Recorder passes all changes to its subscriptions. Stores that run one after another may share
// it. The zero value is ready to use.
type Recorder struct {
	store         atomic.Pointer[Store] // the latest
	mu            sync.Mutex            // guards subscriptions and their pending changes
	subscriptions map[*Subscription]bool
}

// A Subscription yields changes in version order, each exactly once. It supports one reader.
type Subscription struct {
	Arrived  chan struct{} // signals new changes
	recorder *Recorder
	after    uint64
	pending  []Change // unordered across collections
}

// Subscribe returns a subscription to all changes committed after the call. It must be called after
// the store was opened.
func (r *Recorder) Subscribe() *Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	// The newest changes may be only partly published.
	s := &Subscription{make(chan struct{}, 1), r, r.store.Load().appliedRevision.newest(), nil}
	if r.subscriptions == nil {
		r.subscriptions = map[*Subscription]bool{}
	}
	r.subscriptions[s] = true
	return s
}

// record is called before readers see the changes.
func (r *Recorder) record(k *schema.Kind, records []*record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.subscriptions {
		for _, c := range records {
			if c.version > s.after {
				s.pending = append(s.pending, newChange(k, c))
			}
		}
		select {
		case s.Arrived <- struct{}{}:
		default:
		}
	}
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	delete(s.recorder.subscriptions, s)
}

// Committed returns the changes since its last call, up to the newest commit. It includes every
// write that was acknowledged before the call. Collections publish a commit in parallel, so
// Committed waits until all of them have published it.
func (s *Subscription) Committed(ctx context.Context) ([]Change, error) {
	store := s.recorder.store.Load()
	newest := store.appliedRevision.newest()
	if err := store.AwaitVersion(ctx, newest); err != nil {
		return nil, err
	}
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	var committed, later []Change
	for _, c := range s.pending {
		if c.Version > newest {
			later = append(later, c)
		} else {
			committed = append(committed, c)
		}
	}
	s.pending = later
	slices.SortFunc(committed, func(a, b Change) int { return cmp.Compare(a.Version, b.Version) })
	return committed, nil
}
