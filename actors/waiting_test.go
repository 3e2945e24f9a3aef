package actors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/persist/vfs"
)

// TestOwnerIsFreeWhileAdmissionWaits checks that other mutations of an object are committed while
// one mutation is blocked in admission. The blocked mutation is then retried on the new state.
func TestOwnerIsFreeWhileAdmissionWaits(t *testing.T) {
	h := openWith(t, nil)
	entered, gate := make(chan struct{}), make(chan struct{})
	var seen []string
	f := &waitingFake{mutate: func(_ context.Context, c *request.Attributes) error {
		seen = append(seen, string(codec.AppendAny(nil, c.Old["data"])))
		if len(seen) == 1 {
			close(entered)
			<-gate
		}
		return nil
	}}
	result := make(chan error, 1)
	go func() {
		_, err := h.patchWaiting(t.Context(), f, `{"data":{"waited":"x"}}`)
		if warnings, _ := f.recorder.Recorded(); err == nil && strings.Join(warnings, " ") != "mutated validated" {
			err = fmt.Errorf("warnings %q", warnings)
		}
		result <- err
	}()
	<-entered
	must.Get(h.patch("a", `{"data":{"meanwhile":"y"}}`))(t)
	h.wantData(`{"meanwhile":"y","v":"1"}`)
	close(gate)
	must.Succeed(t, <-result)
	h.wantData(`{"meanwhile":"y","v":"1","waited":"x"}`)
	if strings.Join(seen, " ") != `{"v":"1"} {"meanwhile":"y","v":"1"}` {
		t.Errorf("the admission saw %q", seen)
	}
	f.checkReservations(t, 2, 1, 0)
}

func TestStaleAdmissionEndsInConflict(t *testing.T) {
	h := openWith(t, nil)
	f := &waitingFake{}
	f.mutate = func(context.Context, *request.Attributes) error {
		_, err := h.patch("a", fmt.Sprintf(`{"data":{"v":"%d"}}`, f.asked.Load()+1))
		return err
	}
	if _, err := h.patchWaiting(t.Context(), f, `{"data":{"waited":"x"}}`); statusCode(err) != 409 {
		t.Errorf("got %v, want 409", err)
	}
	h.wantData(`{"v":"9"}`)
	f.checkReservations(t, 8, 0, 0)
}

func TestAdmissionUsesTheStore(t *testing.T) {
	h := openWith(t, nil)
	f := &waitingFake{}
	f.mutate = func(ctx context.Context, _ *request.Attributes) error {
		if f.asked.Load() > 1 {
			return nil
		}
		_, err := h.patch("a", `{"data":{"own":"z"}}`)
		return err
	}
	must.Get(h.patchWaiting(t.Context(), f, `{"data":{"waited":"x"}}`))(t)
	h.wantData(`{"own":"z","v":"1","waited":"x"}`)
	f.checkReservations(t, 2, 1, 0)
}

func TestAdmissionTimeout(t *testing.T) {
	h := openWith(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f := &waitingFake{mutate: func(ctx context.Context, _ *request.Attributes) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	}}
	if _, err := h.patchWaiting(ctx, f, `{"data":{"waited":"x"}}`); statusCode(err) != 504 {
		t.Errorf("got %v, want 504", err)
	}
	late, cancel := context.WithCancel(t.Context())
	g := &waitingFake{validate: func(context.Context, *request.Attributes) error { cancel(); return nil }} // returns a result although the request was canceled
	if _, err := h.patchWaiting(late, g, `{"data":{"waited":"x"}}`); statusCode(err) != 504 {
		t.Errorf("an answer after the end: %v, want 504", err)
	}
	if _, err := h.patch("a", `{"data":{"w":"fine"}}`); err != nil {
		t.Error(err)
	}
	h.wantData(`{"v":"1","w":"fine"}`)
	f.checkReservations(t, 1, 0, 0)
	g.checkReservations(t, 1, 0, 0)
}

// TestAdmissionChangesTheObject checks that changes by admission are stored, except for fields that
// only the server sets. They are admitted and validated like changes by the client.
func TestAdmissionChangesTheObject(t *testing.T) {
	h := openWith(t, nil)
	f := &waitingFake{mutate: func(_ context.Context, c *request.Attributes) error {
		c.New.EnsureObject("data")["added"] = "by admission"
		metadata := c.New.EnsureObject("metadata")
		metadata.EnsureObject("labels")["l"] = "admitted"
		metadata["creationTimestamp"], metadata["generation"] = "2020-01-01T00:00:00Z", int64(7)
		return nil
	}}
	pure := &pureFake{}
	before := h.list(request.List{}).Items[0]
	r := must.Get(h.do(request.Mutation{Key: meta.Key{Name: "a"}, FieldManager: "m", Admission: admissionOf(pure.plugin(), f.plugin()),
		Change: request.Update{Object: tree.Tree{"metadata": tree.Tree{"name": "a"}, "data": tree.Tree{"v": "2"}}}}))(t)
	h.wantData(`{"added":"by admission","v":"2"}`)
	if r.Object.Meta.UID != before.Meta.UID || r.Object.Key.Name != "a" || len(r.Object.Meta.Labels) != 1 || r.Object.Meta.Generation != before.Meta.Generation ||
		!strings.Contains(string(r.Object.JSON), `"manager":"m"`) || strings.Contains(string(r.Object.JSON), "f:added") {
		t.Errorf("stored %s", r.Object.JSON)
	}
	if got := strings.Join(pure.seen, " "); got != `{"v":"2"} {"added":"by admission","v":"2"} valid` {
		t.Errorf("the admission in the owner's turn saw %s", got)
	}
	f.mutate = func(_ context.Context, c *request.Attributes) error {
		c.New.EnsureObject("data")["not a key"] = "x"
		return nil
	}
	if _, err := h.patchWaiting(t.Context(), f, `{"data":{"v":"3"}}`); statusCode(err) != 422 {
		t.Errorf("an invalid object: %v, want 422", err)
	}
	h.wantData(`{"added":"by admission","v":"2"}`)
	f.checkReservations(t, 2, 0, 0)
}

func TestRefusedAdmission(t *testing.T) {
	h := openWith(t, nil)
	before := h.Version()
	refuse := func(context.Context, *request.Attributes) error { return refused() }
	for name, f := range map[string]*waitingFake{"mutating": {mutate: refuse}, "validating": {validate: refuse}} {
		for verb, m := range map[string]request.Mutation{
			"create": {Key: meta.Key{Name: "b"}, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "b"}}}},
			"update": {Key: meta.Key{Name: "a"}, Change: request.Update{Object: tree.Tree{"metadata": tree.Tree{"name": "a"}}}},
			"patch":  {Key: meta.Key{Name: "a"}, Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":null}`)}},
			"apply": {Key: meta.Key{Name: "a"}, FieldManager: "m",
				Change: request.Apply{Config: tree.Tree{"metadata": tree.Tree{"name": "a"}, "data": tree.Tree{"x": "y"}}}},
			"delete": {Change: request.Delete{}, Key: meta.Key{Name: "a"}},
		} {
			m.Admission = f.admission()
			if _, err := h.do(m); statusCode(err) != 403 {
				t.Errorf("%s, %s: %v, want 403", name, verb, err)
			}
		}
		f.checkReservations(t, 5, 0, 0)
	}
	if h.Version() != before {
		t.Errorf("the version is %d, was %d", h.Version(), before)
	}
	h.wantData(`{"v":"1"}`)
	if _, err := h.patch("a", `{"data":{"w":"fine"}}`); err != nil {
		t.Error(err)
	}
}

func TestPanicInAdmission(t *testing.T) {
	h := openWith(t, func(o *actors.Options) { o.Tuning.RestartBackoff = time.Hour })
	boom := func(context.Context, *request.Attributes) error { panic("boom") }
	for name, f := range map[string]*waitingFake{"mutating": {mutate: boom}, "validating": {validate: boom}} {
		if _, err := h.patchWaiting(t.Context(), f, `{"data":{"v":"2"}}`); statusCode(err) != 500 || strings.Contains(err.Error(), "boom") {
			t.Errorf("%s: %v, want 500 without the reason", name, err)
		}
		if _, err := h.patch("a", `{"data":{"w":"`+name+`"}}`); err != nil {
			t.Errorf("after a panic: %v", err)
		}
	}
	h.wantData(`{"v":"1","w":"` + h.data(h.list(request.List{}).Items[0]).String("w") + `"}`)
}

func TestReservationOfFailedCommit(t *testing.T) {
	fs := vfs.NewMem()
	h := openOn(t, "/data", fs, nil)
	defer h.close()
	fs.SetBudget(fs.Used() + 200)
	f := &waitingFake{}
	_, err := h.do(request.Mutation{Key: meta.Key{Name: "b"}, Admission: f.admission(),
		Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "b"}, "data": tree.Tree{"v": strings.Repeat("x", 100_000)}}}})
	if statusCode(err) != 507 {
		t.Errorf("on a full disk: %v, want 507", err)
	}
	f.checkReservations(t, 1, 0, 1)
}

func TestCloseWhileAdmissionWaits(t *testing.T) {
	h := openOn(t, "/data", vfs.NewMem(), nil)
	f := &waitingFake{mutate: func(context.Context, *request.Attributes) error {
		h.close()
		return nil
	}}
	_, err := h.do(request.Mutation{Key: meta.Key{Name: "b"}, Admission: f.admission(), Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "b"}}}})
	if statusCode(err) != 503 {
		t.Errorf("got %v, want 503", err)
	}
	f.checkReservations(t, 1, 0, 0)
}
