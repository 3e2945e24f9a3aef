package actors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestEveryVerbIsAdmitted(t *testing.T) {
	h := openWith(t, nil)
	f := &waitingFake{}
	var operations []request.Operation
	f.mutate = func(_ context.Context, c *request.Attributes) error {
		operations = append(operations, c.Operation)
		return nil
	}
	object := func(name, value string) tree.Tree {
		return tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tree.Tree{"name": name}, "data": tree.Tree{"v": value}}
	}
	generated := object("", "x")
	generated["metadata"] = tree.Tree{"generateName": "g-"}
	for _, m := range []request.Mutation{
		{Change: request.Create{Object: generated}},
		{Key: meta.Key{Name: "b"}, FieldManager: "m", Change: request.Apply{Config: object("b", "1")}},
		{Key: meta.Key{Name: "b"}, FieldManager: "m", Change: request.Apply{Config: object("b", "2")}},
		{Key: meta.Key{Name: "b"}, Change: request.Update{Object: object("b", "3")}},
		{Key: meta.Key{Name: "b"}, Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":{"v":"4"}}`)}},
		{Change: request.Delete{}, Key: meta.Key{Name: "b"}},
	} {
		m.Admission = f.admission()
		must.Get(h.do(m))(t)
	}
	if got, want := fmt.Sprint(operations), fmt.Sprint([]request.Operation{request.OnCreate, request.OnCreate, request.OnUpdate, request.OnUpdate, request.OnUpdate, request.OnDelete}); got != want {
		t.Errorf("operations %s, want %s", got, want)
	}
	f.checkReservations(t, 6, 6, 0)
	f.skip = func(c *request.Attributes) bool { return c.New.Object("data").String("v") == "free" }
	must.Get(h.patchWaiting(t.Context(), f, `{"data":{"v":"free"}}`))(t)
	f.checkReservations(t, 6, 7, 0)
}

func TestDeleteCollectionIsAdmitted(t *testing.T) {
	h := openWith(t, nil)
	for i := range 9 {
		must.Get(h.create(fmt.Sprint("c", i), "x"))(t)
	}
	f := &waitingFake{validate: func(_ context.Context, c *request.Attributes) error {
		if c.Old.Object("metadata").String("name") == "a" {
			return refused()
		}
		return nil
	}}
	m := request.Mutation{Kind: h.kind("configmaps"), Change: request.Delete{}, Admission: f.admission()}
	if _, err := h.DeleteCollection(t.Context(), request.List{Kind: h.kind("configmaps"), Namespace: "default"}, m); statusCode(err) != 403 {
		t.Errorf("got %v, want 403", err)
	}
	if l := h.list(request.List{}); len(l.Items) != 1 {
		t.Errorf("%d objects are left, want 1", len(l.Items))
	}
	f.checkReservations(t, 10, 9, 0)
	f.validate = func(_ context.Context, c *request.Attributes) error { // makes the admission stale
		_, err := h.patch("a", fmt.Sprintf(`{"data":{"v":"%d"}}`, f.asked.Load()))
		return err
	}
	if _, err := h.DeleteCollection(t.Context(), request.List{Kind: h.kind("configmaps"), Namespace: "default"}, m); statusCode(err) != 409 {
		t.Errorf("an object that was not deleted: %v, want 409", err)
	}
}

func TestDryRunIsAdmitted(t *testing.T) {
	h := openWith(t, nil)
	before, f := h.Version(), &waitingFake{}
	for _, m := range []request.Mutation{
		{Key: meta.Key{Name: "b"}, Change: request.Create{Object: tree.Tree{"metadata": tree.Tree{"name": "b"}}}},
		{Key: meta.Key{Name: "a"}, Change: request.Patch{Type: request.MergePatch, Body: []byte(`{"data":null}`)}},
		{Change: request.Delete{}, Key: meta.Key{Name: "a"}},
	} {
		m.DryRun, m.Admission = true, f.admission()
		if _, err := h.do(m); err != nil {
			t.Error(err)
		}
	}
	if h.Version() != before {
		t.Error("a dry run has changed something")
	}
	f.checkReservations(t, 3, 0, 3)
}

// TestNoOpApplyIsAdmitted checks that a no-op apply goes through admission if a plugin handles it,
// and otherwise returns immediately.
func TestNoOpApplyIsAdmitted(t *testing.T) {
	h := openWith(t, nil)
	digest := func() meta.Digest { return meta.Digest{1} }
	m := request.Mutation{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "a"},
		FieldManager: "m",
		Change:       request.Apply{Config: tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tree.Tree{"name": "a", "namespace": "default"}, "data": tree.Tree{"x": "y"}}, Digest: digest}}
	apply := func() (request.Result, error) {
		m.Change = request.Apply{Config: tree.Clone(m.Body()).(tree.Tree), Digest: digest}
		if r, ok := h.NoOpApply(m, digest); ok {
			return r, nil
		}
		return h.Mutate(t.Context(), m)
	}
	first := must.Get(apply())(t)
	for range 2 {
		if r, err := apply(); err != nil || !r.NoOp {
			t.Errorf("again: %v %v, want no change", r, err)
		}
	}
	creates := &pureFake{not: request.OnUpdate}
	m.Admission = admissionOf(creates.plugin())
	if r, err := apply(); err != nil || !r.NoOp || len(creates.seen) > 0 {
		t.Errorf("an admission of creates: %v %v, saw %q", r, err, creates.seen)
	}
	pure, f := &pureFake{}, &waitingFake{}
	m.Admission = admissionOf(pure.plugin(), f.plugin())
	if r, err := apply(); err != nil || r.Object.Version != first.Object.Version || strings.Join(pure.seen, " ") != `{"v":"1","x":"y"} valid` &&
		strings.Join(pure.seen, " ") != `{"x":"y","v":"1"} valid` {
		t.Errorf("an admission of updates: %v, version %v, saw %q", err, r.Object, pure.seen)
	}
	pure.refusing = true
	if _, err := apply(); statusCode(err) != 403 {
		t.Errorf("a refusing admission: %v, want 403", err)
	}
	m.Admission = admissionOf(f.plugin())
	f.mutate = func(_ context.Context, c *request.Attributes) error {
		c.New.EnsureObject("data")["added"] = "z"
		return nil
	}
	if _, err := apply(); err != nil {
		t.Error(err)
	}
	h.wantData(`{"added":"z","v":"1","x":"y"}`)
}
