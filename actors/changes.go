package actors

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A Change is a committed change of an object. Its objects are shared and immutable.
type Change struct {
	Verb    string       // create, update or delete
	Kind    *schema.Kind // stored
	Version uint64
	Time    time.Time
	// Object is the new state. For a delete, it is the last state under the delete's version.
	Object *meta.Object
	// Previous is nil for a create. For a change from before a restart, it may be missing.
	Previous *meta.Object
}

var changeVerbs = [...]string{created: "create", changed: "update", removed: "delete"}

func newChange(k *schema.Kind, r *record) Change {
	return Change{changeVerbs[r.kind], k, r.version, r.time, r.object, r.previous}
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

// A Subscription yields changes in version order, each exactly once. It is for one reader.
type Subscription struct {
	recorder *Recorder
	after    uint64
	pending  []Change      // not in order across collections
	arrived  chan struct{} // receives a value when pending grows
	ready    []Change      // in order and complete
}

// Subscribe returns a subscription to all changes that are committed after the call. It must be
// called after the store was opened.
func (r *Recorder) Subscribe() *Subscription {
	s := &Subscription{recorder: r, arrived: make(chan struct{}, 1)}
	r.mu.Lock()
	if r.subscriptions == nil {
		r.subscriptions = map[*Subscription]bool{}
	}
	r.subscriptions[s] = true
	r.mu.Unlock()
	// Changes up to here may have been published in part before s was registered.
	s.after = r.store.Load().appliedRevision.newest()
	return s
}

// record is called before readers see the changes.
func (r *Recorder) record(k *schema.Kind, records []*record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range r.subscriptions {
		for _, c := range records {
			s.pending = append(s.pending, newChange(k, c))
		}
		select {
		case s.arrived <- struct{}{}:
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

// Next waits for the next change.
func (s *Subscription) Next(ctx context.Context) (Change, error) {
	for len(s.ready) == 0 {
		if err := s.advance(ctx); err != nil {
			return Change{}, err
		}
		if len(s.ready) > 0 {
			break
		}
		select {
		case <-s.arrived:
		case <-ctx.Done():
			return Change{}, ctx.Err()
		}
	}
	next := s.ready[0]
	s.ready = s.ready[1:]
	return next, nil
}

// Committed returns the changes that Next has not returned yet, up to the newest commit. It
// includes every write that was acknowledged before the call.
func (s *Subscription) Committed(ctx context.Context) ([]Change, error) {
	err := s.advance(ctx)
	all := s.ready
	s.ready = nil
	return all, err
}

// advance makes the changes up to the newest commit ready. Collections publish a commit in
// parallel, so advance waits until all of them have published it.
func (s *Subscription) advance(ctx context.Context) error {
	store := s.recorder.store.Load()
	newest := store.appliedRevision.newest()
	if err := store.AwaitVersion(ctx, newest); err != nil {
		return err
	}
	s.recorder.mu.Lock()
	defer s.recorder.mu.Unlock()
	var later []Change
	before := len(s.ready)
	for _, c := range s.pending {
		switch {
		case c.Version > newest:
			later = append(later, c)
		case c.Version > s.after:
			s.ready = append(s.ready, c)
		}
	}
	s.pending = later
	slices.SortFunc(s.ready[before:], func(a, b Change) int { return cmp.Compare(a.Version, b.Version) })
	return nil
}
