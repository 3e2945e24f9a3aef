package actors_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

type observerFake struct {
	mu       sync.Mutex // guards the fields below
	seen     []string
	there    map[string]uint64
	last     uint64
	faults   []error
	reserved int
}

func (f *observerFake) Observe(k *schema.Kind, version uint64, old, now *meta.Object) {
	if k.Kind != "ConfigMap" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if version <= f.last {
		f.faults = append(f.faults, fmt.Errorf("version %d after %d", version, f.last))
	}
	f.last = version
	switch {
	case now == nil:
		f.seen = append(f.seen, "-"+old.Key.Name)
		delete(f.there, old.Key.Name)
	case old == nil:
		f.seen = append(f.seen, "+"+now.Key.Name)
		f.there[now.Key.Name] = version
	default:
		f.seen = append(f.seen, "="+now.Key.Name)
		f.there[now.Key.Name] = version
	}
}

// TestObserver checks that every change is observed in version order and before its reservation is
// committed. A scan returns exactly the observed changes.
func TestObserver(t *testing.T) {
	f := &observerFake{there: map[string]uint64{}}
	h := openWith(t, func(o *actors.Options) { o.Observer = f })
	w := &waitingFake{skip: func(*request.Attributes) bool { return true }}
	w.publish = func(k *schema.Kind, version uint64, old, now *meta.Object) {
		f.Observe(k, version, old, now)
		f.reserved++
		if w.committed.Load() != 0 {
			f.faults = append(f.faults, errors.New("committed before it is observed"))
		}
	}
	must.Get(h.patchWaiting(t.Context(), w, `{"data":{"v":"2"}}`))(t)
	must.Get(h.Mutate(t.Context(), request.Mutation{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "a"}, Change: request.Delete{}}))(t)
	if want := []string{"+a", "=a", "-a"}; !slices.Equal(f.seen, want) || f.reserved != 1 {
		t.Errorf("saw %v, want %v; %d with a reservation, want 1", f.seen, want, f.reserved)
	}
	var writers sync.WaitGroup
	var stop atomic.Bool
	for w := range 4 {
		writers.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if _, err := h.create(fmt.Sprintf("w-%d-%d", w, i), "1"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 50 {
		scanned := map[string]uint64{}
		version, err := h.Scan(t.Context(), meta.GroupResource{Resource: "configmaps"}, "default", func(_ *schema.Kind, o *meta.Object) {
			scanned[o.Key.Name] = o.Version
		})
		f.mu.Lock()
		for name, at := range f.there {
			if seen := scanned[name]; err != nil || (at <= version) != (seen == at) {
				t.Errorf("%s of version %d is %d in a scan of version %d, %v", name, at, seen, version, err)
			}
		}
		f.mu.Unlock()
	}
	stop.Store(true)
	writers.Wait()
	for _, err := range f.faults {
		t.Error(err)
	}
}

// contended is an admission plugin that returns a ContendedError for every change until open is
// closed. The store then waits and retries.
type contended struct {
	reservingFake
	open   chan struct{}
	waited atomic.Int64
}

func (c *contended) Validate(a *request.Attributes) error {
	select {
	case <-c.open:
		return c.reservingFake.Validate(a)
	default:
	}
	return &request.ContendedError{Wait: func(ctx context.Context) {
		if c.waited.Add(1) < 20 {
			return // the change is still contended
		}
		select {
		case <-c.open:
		case <-ctx.Done():
		}
	}}
}

// TestContendedChangesWait checks that a change is retried while a plugin returns a ContendedError,
// with and without blocking admission.
func TestContendedChangesWait(t *testing.T) {
	for _, waits := range []bool{false, true} {
		h := openWith(t, nil)
		f := &waitingFake{skip: func(*request.Attributes) bool { return !waits }}
		c := &contended{reservingFake: reservingFake{fake: f}, open: make(chan struct{})}
		m := request.Mutation{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "a"},
			Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":{"v":"2"}}`)}, Admission: admissionOf(f.plugin(), &request.Plugin{Stage: request.Last, Validator: c})}
		short, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error, 1)
		go func() {
			_, err := h.Mutate(short, m)
			gaveUp <- err
		}()
		if !poll(func() bool { return c.waited.Load() >= 20 }) {
			t.Fatal("the change does not wait")
		}
		cancel()
		if err := <-gaveUp; statusCode(err) != 504 {
			t.Errorf("a change that waits for too long: %v", err)
		}
		result := make(chan error, 1)
		go func() {
			_, err := h.Mutate(t.Context(), m)
			result <- err
		}()
		if !poll(func() bool { return c.waited.Load() >= 21 }) {
			t.Fatal("the second change does not wait")
		}
		h.wantData(`{"v":"1"}`)
		close(c.open)
		if err := <-result; err != nil {
			t.Error(err)
		}
		h.wantData(`{"v":"2"}`)
	}
}
