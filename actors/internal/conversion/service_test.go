package conversion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

type converterFunc func(ctx context.Context, objects []*meta.Object) ([]*meta.Object, error)

func (f converterFunc) Convert(ctx context.Context, _ *schema.Kind, objects []*meta.Object) ([]*meta.Object, error) {
	return f(ctx, objects)
}

func renamed(objects []*meta.Object) []*meta.Object {
	out := make([]*meta.Object, len(objects))
	for i, o := range objects {
		out[i] = &meta.Object{Key: o.Key, Version: o.Version, JSON: append([]byte("converted "), o.JSON...), Meta: o.Meta}
	}
	return out
}

func kindOf(t testing.TB, group, version, resource string) *schema.Kind {
	t.Helper()
	c := must.Get(catalog.New(meta.Kubernetes))(t)
	return c.Kind(group, version, resource)
}

// scalers returns the v1 kind of HorizontalPodAutoscalers, which are stored as v2.
func scalers(t testing.TB) *schema.Kind {
	t.Helper()
	return kindOf(t, "autoscaling", "v1", "horizontalpodautoscalers")
}

func object(n, version int) *meta.Object {
	return &meta.Object{
		Key: meta.Key{Name: fmt.Sprint("o", n)}, Version: uint64(version), JSON: []byte(`{"metadata":{}}`), Meta: meta.ObjectMeta{UID: fmt.Sprint("uid", n)},
	}
}

func objects(n int) (all []*meta.Object) {
	for i := range n {
		all = append(all, object(i, 1))
	}
	return all
}

func externalService(t *testing.T, f converterFunc) *Service {
	t.Helper()
	s := NewService(func(*schema.Kind) convert.Converter { return f })
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestBatches(t *testing.T) {
	var mu sync.Mutex
	var sizes []int
	s := externalService(t, func(_ context.Context, objects []*meta.Object) ([]*meta.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		sizes = append(sizes, len(objects))
		return renamed(objects), nil
	})
	k, all := scalers(t), objects(2*maxCallObjects+7)
	for range 2 {
		out := must.Get(s.Convert(context.Background(), k, all))(t)
		for i, o := range out {
			if o.Key != all[i].Key || !strings.HasPrefix(string(o.JSON), "converted") {
				t.Fatalf("item %d is %s of %s", i, o.JSON, o.Key)
			}
		}
	}
	if want := []int{maxCallObjects, maxCallObjects, 7}; !slices.Equal(sizes, want) {
		t.Errorf("calls of %v objects, want %v", sizes, want)
	}
	large := objects(3)
	for _, o := range large {
		o.Version, o.JSON = 2, make([]byte, maxCallBytes/2)
	}
	sizes = nil
	if _, err := s.Convert(context.Background(), k, large); err != nil || !slices.Equal(sizes, []int{2, 1}) {
		t.Errorf("large objects: calls of %v objects, %v", sizes, err)
	}
}

// noticedContext signals when a goroutine starts to wait for the context.
type noticedContext struct {
	context.Context
	once    sync.Once
	noticed chan struct{}
}

func (c *noticedContext) Done() <-chan struct{} {
	c.once.Do(func() { close(c.noticed) })
	return c.Context.Done()
}

// TestFailureOfOthers checks that an invalid object fails only the request that contains it, even
// if several requests share one call of the converter.
func TestFailureOfOthers(t *testing.T) {
	entered, gate := make(chan int, 10), make(chan struct{})
	s := externalService(t, func(_ context.Context, objects []*meta.Object) ([]*meta.Object, error) {
		entered <- len(objects)
		<-gate
		if slices.ContainsFunc(objects, func(o *meta.Object) bool { return o.Key.Name == "o0" }) {
			return nil, errors.New("bad object")
		}
		return renamed(objects), nil
	})
	k, all := scalers(t), objects(3)
	theirs, ours := make(chan error, 1), make(chan error, 1)
	go func() { _, err := s.Convert(context.Background(), k, all); theirs <- err }()
	<-entered
	waits := &noticedContext{Context: context.Background(), noticed: make(chan struct{})}
	go func() { _, err := s.Convert(waits, k, all[1:]); ours <- err }()
	<-waits.noticed
	close(gate)
	if err := <-theirs; err == nil || !strings.Contains(err.Error(), "bad object") {
		t.Errorf("with the bad object: %v", err)
	}
	if err := <-ours; err != nil {
		t.Errorf("without the bad object: %v", err)
	}
}

// TestBadAnswers checks that the results of a converter are validated, and that its panics become
// errors.
func TestBadAnswers(t *testing.T) {
	k := scalers(t)
	for text, f := range map[string]func(objects []*meta.Object) []*meta.Object{
		"1 objects were returned for 2": func(objects []*meta.Object) []*meta.Object { return objects[:1] },
		"/o1 is another object":         func(objects []*meta.Object) []*meta.Object { return []*meta.Object{objects[0], nil} },
		"/o0 is another object":         func(objects []*meta.Object) []*meta.Object { return []*meta.Object{objects[1], objects[0]} },
		"panic: boom":                   func([]*meta.Object) []*meta.Object { panic("boom") },
	} {
		s := externalService(t, func(_ context.Context, objects []*meta.Object) ([]*meta.Object, error) { return f(objects), nil })
		_, err := s.Convert(context.Background(), k, objects(2))
		var status *meta.Status
		if !errors.As(err, &status) || status.Code != 500 || !strings.Contains(status.Message, text) {
			t.Errorf("%v, want %s", err, text)
		}
	}
}

// TestGivingUp checks that a call continues after its caller was canceled, that the next caller
// gets its result, and that Close cancels calls.
func TestGivingUp(t *testing.T) {
	calls, gate := 0, make(chan struct{})
	s := externalService(t, func(ctx context.Context, objects []*meta.Object) ([]*meta.Object, error) {
		calls++
		select {
		case <-gate:
			return renamed(objects), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	})
	k := scalers(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var status *meta.Status
	if _, err := s.Get(ctx, k, "", object(0, 1)); !errors.As(err, &status) || status.Code != 504 {
		t.Errorf("giving up: %v", err)
	}
	close(gate)
	if o, err := s.Get(context.Background(), k, "", object(0, 1)); err != nil || o == nil || calls != 1 {
		t.Errorf("the next one: %v, %v after %d calls", o, err, calls)
	}
	if o, ok := s.TryGet(k, "", object(0, 1)); !ok || o == nil {
		t.Error("it is not known without waiting")
	}
	if _, ok := s.TryGet(k, "", object(0, 2)); ok {
		t.Error("an object is known that was never converted")
	}
	if err := s.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := s.Get(context.Background(), k, "", object(0, 3)); !errors.As(err, &status) || status.Code != 503 {
		t.Errorf("after Close: %v", err)
	}
}

func TestEvents(t *testing.T) {
	s := externalService(t, func(_ context.Context, objects []*meta.Object) ([]*meta.Object, error) { return renamed(objects), nil })
	after, before := object(0, 5), object(0, 5)
	before.JSON = []byte("before")
	events := []request.Event{{Type: request.Modified, Object: after}, {Type: request.Bookmark, Version: 5}, {Type: request.Deleted, Object: before}}
	must.Succeed(t, s.Events(context.Background(), scalers(t), events))
	for i, want := range []string{"converted " + string(after.JSON), "", "converted before"} {
		if o := events[i].Object; o == nil && want != "" || o != nil && string(o.JSON) != want {
			t.Errorf("event %d: %v, want %q", i, o, want)
		}
	}
}

func TestDryRunIsNotKept(t *testing.T) {
	s := externalService(t, func(_ context.Context, objects []*meta.Object) ([]*meta.Object, error) { return renamed(objects), nil })
	k, imagined := scalers(t), object(0, 1)
	imagined.JSON = []byte("imagined")
	if o, err := s.Result(context.Background(), &request.Mutation{Kind: k, DryRun: true}, request.Result{Object: imagined}); err != nil || string(o.JSON) != "converted imagined" {
		t.Errorf("the dry run: %v, %v", o, err)
	}
	if o, err := s.Get(context.Background(), k, "", object(0, 1)); err != nil || strings.Contains(string(o.JSON), "imagined") {
		t.Errorf("afterwards: %v, %v", o, err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	c := NewService(nil)
	k := scalers(t)
	favourite, body := keyOf(k, object(0, 1), false), make([]byte, 1<<20)
	c.add(favourite, object(0, 1), object(0, 1))
	for version := 1; version < 200; version++ {
		o := object(1, version)
		o.JSON = body
		c.add(keyOf(k, o, false), o, o)
		if n := c.cache.Len(); n > maxCacheBytes>>20 {
			t.Fatalf("%d MiB are kept", n)
		}
		if c.cached(favourite) == nil {
			t.Fatalf("what is asked for all the time has gone with version %d", version)
		}
	}
	if c.cached(keyOf(k, object(1, 1), false)) != nil {
		t.Error("the oldest is still there")
	}
	if c.cached(key{}) != nil {
		t.Error("the key of nothing finds something")
	}
}

func TestNothingToConvert(t *testing.T) {
	s := NewService(nil)
	k, all, ctx := scalers(t).Stored, objects(100), context.Background()
	events := []request.Event{{Type: request.Added, Object: all[0]}}
	if n := testing.AllocsPerRun(100, func() {
		if out, err := s.Convert(ctx, k, all); err != nil || &out[0] != &all[0] {
			t.Error("the list was copied")
		}
		if o, err := s.Get(ctx, k, "", all[1]); err != nil || o != all[1] {
			t.Error("the object was copied")
		}
		if err := s.Events(ctx, k, events); err != nil || events[0].Object != all[0] {
			t.Error("the event was copied")
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkList(b *testing.B) {
	s, k := NewService(nil), scalers(b)
	all := objects(1000)
	b.ReportAllocs()
	for b.Loop() {
		must.Get(s.Convert(b.Context(), k, all))(b)
	}
}

func BenchmarkListUncached(b *testing.B) {
	s, k := NewService(nil), scalers(b)
	all := objects(1000)
	b.ReportAllocs()
	for b.Loop() {
		for _, o := range all {
			o.Version++
		}
		must.Get(s.Convert(b.Context(), k, all))(b)
	}
}
