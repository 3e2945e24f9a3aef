package actors

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// CollectionVersion is the version of the newest change of a collection that readers can see.
func (s *Store) CollectionVersion(storage meta.GroupResource) uint64 {
	c := s.allCollections()[storage]
	if c == nil {
		return 0
	}
	return c.published.Load().version
}

// Get finds one object.
func (s *Store) Get(ctx context.Context, r request.Get) (*meta.Object, error) {
	if r.Version > 0 {
		if err := s.appliedRevision.await(ctx, r.Version); err != nil {
			return nil, err
		}
	}
	o := s.collection(r.Kind).published.Load().get(path(r.Key.Namespace, r.Key.Name))
	if o == nil {
		return nil, s.notFound(r)
	}
	return s.converted(r.Kind, r.Subresource, o)
}

// notFound is the answer to a read of what is not served.
func (s *Store) notFound(r request.Get) error {
	key := r.Key
	key.GroupResource = r.Kind.Storage
	if s.quarantine.get(key) != nil {
		return meta.NewStoreReadError(resource(r.Kind), r.Key.Name, quarantinedText)
	}
	return meta.NewNotFound(resource(r.Kind), r.Key.Name)
}

func resource(k *schema.Kind) meta.GroupResource {
	return meta.GroupResource{Group: k.Group, Resource: k.Resource}
}

// List reads a collection, whole or a chunk of it. Its items are the stored objects.
func (s *Store) List(ctx context.Context, r request.List) (request.ListResult, error) {
	c := s.collection(r.Kind)
	if r.Continue != "" {
		return c.continueList(ctx, r)
	}
	state, version, err := c.snapshotFor(ctx, r.Match, r.Version)
	if err != nil {
		return request.ListResult{}, err
	}
	return c.list(r, state, version, ""), nil
}

// snapshotFor is the snapshot that a read with a match and a version is answered from, and
// the version that it stands for.
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
	seen := applied.get() // before the snapshot: what it lacks of the collection is newer
	state := c.published.Load()
	return state, max(seen, state.version), nil
}

// list takes a chunk out of a snapshot, from a path on.
func (c *collection) list(r request.List, state *snapshot, version uint64, from string) request.ListResult {
	l := request.ListResult{Version: version, Remaining: -1}
	next := ""
	take := func(path string, o *meta.Object) bool {
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
		return l
	}
	if r.Labels.Empty() && r.Fields.Empty() && r.Limit == 0 {
		l.Items = make([]*meta.Object, 0, state.count(r.Namespace, from))
	}
	state.candidates(r.Fields, r.Namespace, from, take)
	if next != "" {
		c.snapshotCache.put(version, state, c.store.now())
		l.Continue = encodeToken(token{Resource: c.storage.String(), Namespace: r.Namespace, Selectors: r.Selectors, Version: version, Next: next})
		if r.Labels.Empty() && r.Fields.Empty() {
			l.Remaining = int64(state.count(r.Namespace, next))
		}
	}
	return l
}

// singleObject says whether the selectors allow at most one object, and which.
func (c *collection) singleObject(r request.List) (name, namespace string, ok bool) {
	name, ok = r.Fields.Name()
	if !ok || !c.kind().Namespaced {
		return name, "", ok
	}
	return name, r.Namespace, r.Namespace != ""
}

// continueList reads the next chunk of a list.
func (c *collection) continueList(ctx context.Context, r request.List) (request.ListResult, error) {
	t, err := decodeToken(r.Continue)
	if err != nil {
		return request.ListResult{}, meta.NewBadRequest("invalid continue token: continue key is not valid: " + err.Error())
	}
	if t.Resource != c.storage.String() || t.Namespace != r.Namespace || t.Selectors != r.Selectors {
		return request.ListResult{}, meta.NewBadRequest("invalid continue token: continue key is not valid: it is the token of another list")
	}
	match := request.MatchExact
	if t.Newest {
		match = request.MatchMostRecent
	}
	state, version, err := c.snapshotFor(ctx, match, t.Version)
	var status *meta.Status
	if errors.As(err, &status) && status.Reason == meta.ReasonExpired {
		return request.ListResult{}, expiredToken(t)
	}
	if err != nil {
		return request.ListResult{}, err
	}
	return c.list(r, state, version, t.Next), nil
}

// expiredToken is the answer to a token whose snapshot is gone. It offers one that goes
// on at the same place in the newest state, for clients that can live with that.
func expiredToken(t token) error {
	status := meta.NewExpired("The provided continue parameter is too old to display a consistent list result. " +
		"You can start a new list without the continue parameter, or use the continue token in this response to " +
		"retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - " +
		"objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.")
	t.Version, t.Newest = 0, true
	status.Continue = encodeToken(t)
	return status
}

// Watch starts a session that feeds a sink.
func (s *Store) Watch(ctx context.Context, r request.Watch, sink request.Sink) (request.Session, error) {
	if s.closing.Load() {
		return nil, meta.NewServiceUnavailable("the server is stopping")
	}
	c := s.collection(r.Kind)
	if needsConversion(r.Kind) {
		sink = &convertingSink{store: s, kind: r.Kind, Sink: sink}
	}
	l := &watchHandle{collection: c, watch: r, sink: sink, mailbox: newMailbox(0)}
	l.lastSent.Store(s.now().UnixNano())
	first := &session{handle: l}
	if r.SendInitialEvents {
		if err := first.start(ctx, r); err != nil {
			return nil, err
		}
	} else {
		at, ok := c.history.seek(r.Version)
		if !ok {
			return nil, tooOld(r.Version, c.history.floor.Load())
		}
		first.cursor, first.sent = at, r.Version
	}
	l.pid = s.spawn(func() actor.Actor {
		if first != nil { // a restarted session only ends
			defer func() { first = nil }()
			return first
		}
		return &session{handle: l}
	}, l.mailbox)
	c.watchers.add(l) // and then the first wake-up: nothing that is published falls between
	if r.Kind.DefinedAtRuntime && r.Kind.Stored != c.kind() {
		l.Stop() // the definition has changed meanwhile, and ended the watches that it found
	}
	if job := l.wake(); job != nil {
		s.dispatcher.Schedule(job)
	}
	return l, nil
}
