package actors_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/persist/vfs"
)

// waitingFake is a waiting admission of functions. It counts how often it is asked first about a change;
// and, where its reserving is the mutation's Admission, what becomes of the reservations, of which
// there is one for every change that is let pass.
type waitingFake struct {
	skip     func(c request.Change) bool
	mutate   func(ctx context.Context, c request.Change) error
	validate func(ctx context.Context, c request.Change) error

	asked, reserved, committed, released atomic.Int64
	recorder                             request.Recorder // of patchWaiting
	publish                              func(k *schema.Kind, version uint64, old, now *meta.Object)
}

func (*waitingFake) MayApply(request.Verb) bool { return true }

func (*waitingFake) AppliesToNoOp() bool { return true }

func (f *waitingFake) Applies(c request.Change) bool { return f.skip == nil || !f.skip(c) }

func (f *waitingFake) Begin() request.WaitingCall { return f }

func (f *waitingFake) Mutate(ctx context.Context, c request.Change) error {
	if c.Reinvocation {
		return nil
	}
	f.asked.Add(1)
	if f.mutate == nil {
		return nil
	}
	c.Mutation.Recorder.Warn("mutated")
	return f.mutate(ctx, c)
}

func (f *waitingFake) Validate(ctx context.Context, c request.Change) error {
	c.Mutation.Recorder.Warn("validated")
	if f.validate == nil {
		return nil
	}
	return f.validate(ctx, c)
}

// reserving is an admission that reserves something for every change.
func (f *waitingFake) reserving() request.Admission { return reservingFake{f} }

type reservingFake struct{ fake *waitingFake }

func (reservingFake) Applies(request.Verb) bool     { return true }
func (reservingFake) AppliesToNoOp() bool           { return true }
func (reservingFake) MayChange(request.Verb) bool   { return false }
func (reservingFake) Admit(request.Change) error    { return nil }
func (reservingFake) Validate(request.Change) error { return nil }
func (r reservingFake) Reserve(request.Change) (*request.Reservation, error) {
	f := r.fake
	f.reserved.Add(1)
	return &request.Reservation{OnPublish: f.publish, OnCommit: func() { f.committed.Add(1) }, OnRelease: func() { f.released.Add(1) }}, nil
}

// checkReservations compares how often the admission was asked and what became of its reservations.
func (f *waitingFake) checkReservations(t *testing.T, asked, committed, released int64) {
	t.Helper()
	if f.asked.Load() != asked || f.committed.Load() != committed || f.released.Load() != released || f.reserved.Load() != committed+released {
		t.Errorf("asked %d times, %d of %d reservations committed and %d released; want %d, %d and %d",
			f.asked.Load(), f.committed.Load(), f.reserved.Load(), f.released.Load(), asked, committed, released)
	}
}

// openWith opens a store that has a ConfigMap a.
func openWith(t *testing.T, change func(*actors.Options)) *testStore {
	t.Helper()
	h := openOn(t, "/data", vfs.NewMem(), change)
	t.Cleanup(h.close)
	if _, err := h.create("a", "1"); err != nil {
		t.Fatal(err)
	}
	return h
}

// patchWaiting patches the ConfigMap a, with a waiting admission.
func (h *testStore) patchWaiting(ctx context.Context, f *waitingFake, patch string) (request.Result, error) {
	return h.Mutate(ctx, request.Mutation{Verb: request.Patch, Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "a"},
		PatchType: request.MergePatch, PatchBody: []byte(patch), Waiting: f, Admission: f.reserving(), Recorder: &f.recorder})
}

// wantData compares the data of the ConfigMap a.
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

// pureFake is an admission that runs in the owner's turn.
type pureFake struct {
	not      request.Verb // an operation that it does not apply to
	seen     []string
	refusing bool
}

func (p *pureFake) Applies(operation request.Verb) bool { return operation != p.not }

func (p *pureFake) MayChange(request.Verb) bool { return true }

func (p *pureFake) AppliesToNoOp() bool { return p.not != request.Update }

func (p *pureFake) Admit(c request.Change) error {
	p.seen = append(p.seen, string(codec.AppendAny(nil, c.New["data"])))
	if p.refusing {
		return refused()
	}
	return nil
}

func (p *pureFake) Validate(request.Change) error {
	p.seen = append(p.seen, "valid")
	return nil
}

func (p *pureFake) Reserve(request.Change) (*request.Reservation, error) { return nil, nil }
