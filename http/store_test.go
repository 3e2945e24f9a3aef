package http_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type memStore struct {
	mu       sync.Mutex
	version  uint64
	objects  map[meta.Key]*meta.Object
	sessions map[*memSession]struct{}
	last     request.Mutation
	lastList request.List

	beforeGet func()
	// failAt is the 1-based index of the conversion that fails, or 0.
	failAt, conversions atomic.Int64
	converted           bool
}

func newMemStore() *memStore {
	return &memStore{version: 10, objects: map[meta.Key]*meta.Object{}, sessions: map[*memSession]struct{}{}}
}

func (m *memStore) Count(*schema.Kind, string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.objects)
}

func (m *memStore) Version() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version
}

func (m *memStore) Get(_ context.Context, r request.Get) (*meta.Object, error) {
	if m.beforeGet != nil {
		m.beforeGet()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if o := m.objects[r.Key]; o != nil {
		return o, nil
	}
	return nil, meta.NewNotFound(r.Key.GroupResource, r.Key.Name)
}

func (m *memStore) Convert(_ context.Context, k *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	out := make([]*meta.Object, len(objects))
	for i, o := range objects {
		if m.conversions.Add(1) == m.failAt.Load() {
			return nil, errors.New("it cannot be shown")
		}
		var err error
		if out[i], err = convert.Object(k, nil, o); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (m *memStore) List(_ context.Context, r request.List) (request.ListResult, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lastList = r
	l := request.ListResult{Version: m.version, Remaining: -1}
	if !m.converted {
		l.Form = convert.Form{Kind: r.Kind, Converter: m}
	}
	for k, o := range m.objects {
		if k.GroupResource == r.Kind.Storage && (r.Namespace == "" || k.Namespace == r.Namespace) && r.Labels.Matches(o.Meta.Labels) {
			l.Items = append(l.Items, o)
		}
	}
	slices.SortFunc(l.Items, func(a, b *meta.Object) int {
		if a.Key.String() < b.Key.String() {
			return -1
		}
		return 1
	})
	if r.Limit > 0 && len(l.Items) > r.Limit {
		l.Continue, l.Remaining = "token", int64(len(l.Items)-r.Limit)
		l.Items = l.Items[:r.Limit]
	}
	return l, nil
}

func (m *memStore) Mutate(_ context.Context, r request.Mutation) (request.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last = r
	old := m.objects[r.Key]
	switch r.Change.(type) {
	case request.Delete:
		if old == nil {
			return request.Result{}, meta.NewNotFound(r.Key.GroupResource, r.Key.Name)
		}
		if len(old.Meta.Finalizers) > 0 {
			return request.Result{Object: old}, nil
		}
		m.version++
		delete(m.objects, r.Key)
		m.send(request.Event{Type: request.Deleted, Object: old})
		return request.Result{Object: old, Deleted: true}, nil
	case request.Patch, request.Apply:
		if old == nil {
			return request.Result{}, meta.NewNotFound(r.Key.GroupResource, r.Key.Name)
		}
		return request.Result{Object: old}, nil
	}
	o := m.put(r.Kind, r.Key, r.Body())
	t := request.Added
	if old != nil {
		t = request.Modified
	}
	m.send(request.Event{Type: t, Object: o})
	return request.Result{Object: o, Created: old == nil}, nil
}

func (*memStore) History(context.Context, request.History) (request.HistoryResult, error) {
	return request.HistoryResult{}, nil
}

func (m *memStore) NoOpApply(request.Mutation, func() meta.Digest) (request.Result, bool) {
	return request.Result{}, false
}

func (m *memStore) put(k *schema.Kind, key meta.Key, object tree.Tree) *meta.Object {
	m.version++
	enc := codec.EncodeJSON(k, object)
	v := strconv.FormatUint(m.version, 10)
	json := slices.Concat(enc.JSON[:enc.VersionOffset], []byte(v), enc.JSON[enc.VersionOffset:])
	o, err := codec.NewObject(k, key, m.version, json)
	if err != nil {
		panic(err)
	}
	m.objects[key] = o
	return o
}

func (m *memStore) DeleteCollection(ctx context.Context, l request.List, r request.Mutation) (request.ListResult, error) {
	out, err := m.List(ctx, l)
	for _, o := range out.Items {
		r.Key = o.Key
		if _, err := m.Mutate(ctx, r); err != nil {
			return out, err
		}
	}
	return out, err
}

type memSession struct {
	store  *memStore
	sink   request.Sink
	events chan []request.Event
	quit   chan struct{}
	once   sync.Once
}

func (s *memSession) Finish() { s.Stop() }

func (s *memSession) Stop() { s.once.Do(func() { close(s.quit) }) }

func (s *memSession) run() {
	defer s.sink.Done()
	defer func() {
		s.store.mu.Lock()
		delete(s.store.sessions, s)
		s.store.mu.Unlock()
	}()
	for {
		select {
		case <-s.quit:
			return
		case e := <-s.events:
			if s.sink.Events(e) != nil || e[len(e)-1].Type == request.Error {
				return
			}
		}
	}
}

func (m *memStore) Watch(_ context.Context, r request.Watch, sink request.Sink) (request.Session, error) {
	if r.Version == 1 {
		return nil, meta.NewExpired("too old resource version: 1 (10)")
	}
	s := &memSession{store: m, sink: sink, events: make(chan []request.Event, 1000), quit: make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	var initial []request.Event
	if r.SendInitialEvents {
		for k, o := range m.objects {
			if k.GroupResource == r.Kind.Storage {
				initial = append(initial, request.Event{Type: request.Added, Object: o})
			}
		}
	}
	if r.MarkInitialEventsEnd {
		initial = append(initial, request.Event{Type: request.Bookmark, Version: m.version, InitialEventsEnd: true})
	}
	if len(initial) > 0 {
		s.events <- initial
	}
	m.sessions[s] = struct{}{}
	go s.run()
	return s, nil
}

func (m *memStore) send(e ...request.Event) {
	for s := range m.sessions {
		s.events <- e
	}
}

func (m *memStore) openSessions() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sessions)
}
