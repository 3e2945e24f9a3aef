package actors_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist/vfs"
)

// waitingFake is a plugin whose functions may block. It counts its calls, and the committed and
// released reservations.
type waitingFake struct {
	skip     func(a *request.Attributes) bool
	mutate   func(ctx context.Context, a *request.Attributes) error
	validate func(ctx context.Context, a *request.Attributes) error

	asked, reserved, committed, released atomic.Int64
	recorder                             request.Recorder // recorder of patchWaiting
	publish                              func(k *schema.Kind, version uint64, old, now *meta.Object)
}

func (f *waitingFake) Handles(a *request.Attributes) bool { return f.skip == nil || !f.skip(a) }

func (f *waitingFake) Admit(a *request.Attributes) error {
	if a.Reinvocation {
		return nil
	}
	f.asked.Add(1)
	if f.mutate == nil {
		return nil
	}
	a.Warn("mutated")
	return f.mutate(a.Context, a)
}

func (f *waitingFake) Validate(a *request.Attributes) error {
	a.Warn("validated")
	if f.validate == nil {
		return nil
	}
	return f.validate(a.Context, a)
}

func (f *waitingFake) plugin() *request.Plugin {
	return &request.Plugin{Stage: request.MayBlock, Mutator: f, Validator: f}
}

func (f *waitingFake) reserving() *request.Plugin {
	return &request.Plugin{Stage: request.Last, Validator: reservingFake{fake: f}}
}

func admissionOf(plugins ...*request.Plugin) *request.Admission {
	return &request.Admission{Plugins: plugins}
}

func (f *waitingFake) admission() *request.Admission { return admissionOf(f.plugin(), f.reserving()) }

type reservingFake struct {
	request.HandlesAll
	fake *waitingFake
}

func (r reservingFake) Validate(a *request.Attributes) error {
	f := r.fake
	f.reserved.Add(1)
	a.Reserve(&request.Reservation{OnPublish: f.publish, OnCommit: func() { f.committed.Add(1) }, OnRelease: func() { f.released.Add(1) }})
	return nil
}

func (f *waitingFake) checkReservations(t *testing.T, asked, committed, released int64) {
	t.Helper()
	if f.asked.Load() != asked || f.committed.Load() != committed || f.released.Load() != released || f.reserved.Load() != committed+released {
		t.Errorf("asked %d times, %d of %d reservations committed and %d released; want %d, %d and %d",
			f.asked.Load(), f.committed.Load(), f.reserved.Load(), f.released.Load(), asked, committed, released)
	}
}

func openWith(t *testing.T, change func(*actors.Options)) *testStore {
	t.Helper()
	h := openOn(t, "/data", vfs.NewMem(), change)
	t.Cleanup(h.close)
	must.Get(h.create("a", "1"))(t)
	return h
}

func (h *testStore) patchWaiting(ctx context.Context, f *waitingFake, patch string) (request.Result, error) {
	return h.Mutate(ctx, request.Mutation{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "a"},
		Change: request.Patch{Type: request.MergePatch, Body: []byte(patch)}, Admission: f.admission(), Recorder: &f.recorder})
}

func (h *testStore) wantData(want string) {
	h.t.Helper()
	l := h.list(request.List{})
	for _, o := range l.Items {
		if got := string(codec.AppendAny(nil, h.data(o))); o.Key.Name == "a" && got != want {
			h.t.Errorf("the data is %s, want %s", got, want)
		}
	}
}

func refused() error {
	return meta.NewForbidden(meta.GroupResource{Resource: "configmaps"}, "a", "by a test")
}

// pureFake is a plugin that does not block and runs in the object's owner.
type pureFake struct {
	request.HandlesAll
	not      request.Operation // an operation that it does not handle
	seen     []string
	refusing bool
}

func (p *pureFake) plugin() *request.Plugin {
	return &request.Plugin{Operations: (request.OnCreate | request.OnUpdate | request.OnDelete) &^ p.not, Mutator: p, Validator: p}
}

func (p *pureFake) Admit(a *request.Attributes) error {
	p.seen = append(p.seen, string(codec.AppendAny(nil, a.New["data"])))
	if p.refusing {
		return refused()
	}
	return nil
}

func (p *pureFake) Validate(*request.Attributes) error {
	p.seen = append(p.seen, "valid")
	return nil
}
