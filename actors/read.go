package actors

import (
	"context"
	"math"
	"time"

	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// CollectionVersion returns the version of the newest visible change of a collection.
func (s *Store) CollectionVersion(storage meta.GroupResource) uint64 {
	c := s.allCollections()[storage]
	if c == nil {
		return 0
	}
	return c.published.Load().version
}

// Count returns the number of objects of a kind in a namespace, or in all namespaces if namespace
// is empty.
func (s *Store) Count(k *schema.Kind, namespace string) int {
	c := s.collection(k)
	if c == nil {
		return 0
	}
	return c.published.Load().count(namespace, "")
}

// Get returns one object from a state that is at least as new as r.Version.
func (s *Store) Get(ctx context.Context, r request.Get) (*meta.Object, error) {
	if !r.Time.IsZero() {
		version, err := s.versionAt(ctx, r.User, r.Time)
		if err != nil {
			return nil, err
		}
		r.Version, r.Exact = version, true
	}
	if r.Version > 0 {
		if err := s.appliedRevision.await(ctx, r.Version); err != nil {
			return nil, err
		}
	}
	c := s.collection(r.Kind)
	if c == nil {
		return nil, s.notFound(r)
	}
	o := c.published.Load().get(path(r.Key.Namespace, r.Key.Name))
	if r.Exact && (o == nil || o.Version > r.Version) {
		var err error
		if o, err = c.objectAt(ctx, r); err != nil {
			return nil, err
		}
	}
	if o == nil {
		return nil, s.notFound(r)
	}
	return s.conversions.Get(ctx, r.Kind, r.Subresource, o)
}

func (s *Store) notFound(r request.Get) error {
	key := r.Key
	key.GroupResource = r.Kind.Storage
	if s.quarantine.get(key) != nil {
		return meta.NewStoreReadError(r.Kind.GroupResource(), r.Key.Name, quarantinedText)
	}
	return meta.NewNotFound(r.Kind.GroupResource(), r.Key.Name)
}

// List returns a collection or one chunk of it. The caller usually converts the items to the
// requested version with the result's Form while it encodes the response. If the conversion may
// call a webhook, List converts the items itself, because a later failure would truncate the
// response.
func (s *Store) List(ctx context.Context, r request.List) (request.ListResult, error) {
	l, err := s.listStored(ctx, r)
	if err == nil && s.conversions.MayWait(r.Kind) {
		l.Items, err = l.Form.Convert(ctx, l.Items)
		l.Form = convert.Form{}
	}
	return l, err
}

// listStored is like List, but leaves the conversion of the items to the caller, unless selectors
// had to be matched against converted objects.
func (s *Store) listStored(ctx context.Context, r request.List) (request.ListResult, error) {
	c := s.collection(r.Kind)
	if c == nil {
		return request.ListResult{}, s.errUndefined(r.Kind)
	}
	if r.Continue != "" {
		return c.continueList(ctx, r)
	}
	if !r.Time.IsZero() {
		version, err := s.versionAt(ctx, r.User, r.Time)
		if err != nil {
			return request.ListResult{}, err
		}
		r.Version, r.Match, r.Logged = version, request.MatchExact, true
	}
	state, version, err := c.listedSnapshot(ctx, r)
	if err != nil {
		return request.ListResult{}, err
	}
	return c.listFrom(ctx, r, state, version, "")
}

func (c *collection) listFrom(ctx context.Context, r request.List, state *snapshot, version uint64, from string) (request.ListResult, error) {
	if selectsConverted(r.Kind, r.Labels, r.Fields) {
		return c.selected(ctx, r, state, version, from)
	}
	return c.list(ctx, r, state, version, from)
}

// listedSnapshot is like snapshotFor, but may read the log.
func (c *collection) listedSnapshot(ctx context.Context, r request.List) (*snapshot, uint64, error) {
	state, version, err := c.snapshotFor(ctx, r.Match, r.Version)
	if meta.HasReason(err, meta.ReasonExpired) && r.Logged && c.store.historian() != nil {
		state, err = c.loggedSnapshot(ctx, r)
	}
	return state, version, err
}

// snapshotFor returns the snapshot for a read at the given version, and the version that the
// response must report.
func (c *collection) snapshotFor(ctx context.Context, match request.ResourceVersionMatch, version uint64) (*snapshot, uint64, error) {
	applied := &c.store.appliedRevision
	if match == request.MatchNotOlderThan || match == request.MatchExact {
		if err := applied.await(ctx, version); err != nil {
			return nil, 0, err
		}
	}
	if match == request.MatchExact {
		if cached := c.snapshotCache.get(version); cached != nil {
			return cached, version, nil
		}
		state, err := c.snapshotAt(version)
		return state, version, err
	}
	seen := applied.get() // read before the snapshot, so that every change that the snapshot lacks is newer
	state := c.published.Load()
	return state, max(seen, state.version), nil
}

func (c *collection) list(ctx context.Context, r request.List, state *snapshot, version uint64, from string) (request.ListResult, error) {
	l := request.ListResult{Version: version, Remaining: -1, Form: c.store.conversions.Form(r.Kind)}
	next, work, steps := "", schema.NewWork(ctx, math.MaxInt), 1+r.Labels.Size()+r.Fields.Size()
	take := func(path string, o *meta.Object) bool {
		if !work.Spend(steps) {
			return false
		}
		if !r.Labels.Empty() && !r.Labels.Matches(o.Meta.Labels) || !r.Fields.Empty() && !r.Fields.Matches(o) {
			return true
		}
		if r.Limit > 0 && len(l.Items) == r.Limit {
			next = path
			return false
		}
		l.Items = append(l.Items, o)
		return true
	}
	if name, namespace, exact := c.singleObject(r); exact {
		if o := state.get(path(namespace, name)); o != nil && path(namespace, name) >= from {
			take(path(namespace, name), o)
		}
		return l, nil
	}
	if r.Labels.Empty() && r.Fields.Empty() && r.Limit == 0 {
		l.Items = make([]*meta.Object, 0, state.count(r.Namespace, from))
	}
	state.candidates(r.Fields, r.Namespace, from, take)
	if err := work.Err(); err != nil {
		return request.ListResult{}, err
	}
	if next != "" {
		c.continueAt(&l, r, state, next)
		if r.Labels.Empty() && r.Fields.Empty() {
			l.Remaining = int64(state.count(r.Namespace, next))
		}
	}
	return l, nil
}

func (c *collection) continueAt(l *request.ListResult, r request.List, state *snapshot, next string) {
	if l.Version >= c.history.floor.Load() {
		c.snapshotCache.put(l.Version, state, c.store.now())
	}
	t := token{Resource: c.storage.String(), Namespace: r.Namespace, Selectors: r.Selectors, Version: l.Version, Logged: r.Logged && c.store.historian() != nil, Next: next, Began: c.store.now().Unix(), By: c.store.id}
	if before, err := decodeToken(r.Continue); err == nil && !before.Newest && before.Began > 0 {
		t.Began, t.By = before.Began, before.By
	}
	l.Continue = encodeToken(t)
}

func (c *collection) singleObject(r request.List) (name, namespace string, ok bool) {
	name, ok = r.Fields.Name()
	if !ok || !c.kind().Namespaced {
		return name, "", ok
	}
	return name, r.Namespace, r.Namespace != ""
}

func (c *collection) continueList(ctx context.Context, r request.List) (request.ListResult, error) {
	t, err := decodeToken(r.Continue)
	if err != nil {
		return request.ListResult{}, meta.NewBadRequest("invalid continue token: continue key is not valid: " + err.Error())
	}
	if t.Resource != c.storage.String() || t.Namespace != r.Namespace || t.Selectors != r.Selectors {
		return request.ListResult{}, meta.NewBadRequest("invalid continue token: continue key is not valid: it is the token of another list")
	}
	// Clients expect continue tokens to expire, so a token expires after HistoryTime even if
	// nothing has changed. A token issued by another process, or for a state in the log,
	// expires only when its version is no longer retained.
	if !t.Newest && !t.Logged && t.Began > 0 && t.By == c.store.id && c.store.now().Sub(time.Unix(t.Began, 0)) > c.store.tuning.HistoryTime {
		return request.ListResult{}, expiredToken(t)
	}
	if !t.Newest {
		r.Match, r.Version, r.Logged = request.MatchExact, t.Version, t.Logged
	}
	state, version, err := c.listedSnapshot(ctx, r)
	if meta.HasReason(err, meta.ReasonExpired) {
		return request.ListResult{}, expiredToken(t)
	}
	if err != nil {
		return request.ListResult{}, err
	}
	return c.listFrom(ctx, r, state, version, t.Next)
}

func expiredToken(t token) error {
	status := meta.NewExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	t.Version, t.Newest = 0, true
	status.Continue = encodeToken(t)
	return status
}
