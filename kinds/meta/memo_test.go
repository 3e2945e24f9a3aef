package meta

import (
	"strings"
	"sync"
	"testing"
)

func TestMemo(t *testing.T) {
	t.Parallel()
	o, id, other := &Object{}, NewSchemaID(), NewSchemaID()
	digest := func() Digest { return Digest{1} }
	if o.ConformsTo(id) || o.IsNoOpApply(digest) || o.Form(1) != nil || o.SetForm(1, nil) {
		t.Error("a new memo is not empty")
	}
	o.SetConformsTo(id)
	if o.memo.Load() != &id.memo {
		t.Error("it has memory of its own for its schema")
	}
	o.AddNoOpApply(Digest{1})
	if !o.SetForm(1, []byte("one")) || !o.SetForm(2, []byte("two")) || o.SetForm(1, []byte("again")) {
		t.Error("forms are not set once")
	}
	o.SetConformsTo(other)
	if !o.ConformsTo(other) || o.ConformsTo(id) || !o.IsNoOpApply(digest) || string(o.Form(1)) != "one" || string(o.Form(2)) != "two" {
		t.Errorf("it has forgotten: %+v", o.memo.Load())
	}
	if !o.SetForm(1, nil) || o.SetForm(1, nil) || o.Form(1) != nil || string(o.Form(2)) != "two" {
		t.Error("not one form is dropped")
	}
}

func TestMemoForgets(t *testing.T) {
	t.Parallel()
	o := &Object{}
	for i := range byte(maxNoOpApplies + 1) {
		o.AddNoOpApply(Digest{i})
	}
	if o.IsNoOpApply(func() Digest { return Digest{0} }) || !o.IsNoOpApply(func() Digest { return Digest{1} }) {
		t.Error("not the oldest apply is forgotten")
	}
	o = &Object{}
	if o.SetForm(1, []byte("one")); !o.SetForm(1, nil) || o.memo.Load() != nil {
		t.Error("an object that remembers nothing takes memory for it")
	}
}

// TestMemoRaces checks that concurrent updates are not lost, and that exactly one goroutine sets
// each form.
func TestMemoRaces(t *testing.T) {
	t.Parallel()
	o, id := &Object{}, NewSchemaID()
	var set [8]int
	var mu sync.Mutex
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			o.SetConformsTo(id)
			for f := range FormID(8) {
				if o.SetForm(f, []byte(strings.Repeat("x", int(f)+1))) {
					mu.Lock()
					set[f]++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	for f, n := range set {
		if n != 1 || len(o.Form(FormID(f))) != f+1 {
			t.Errorf("form %d was set %d times, and is %q", f, n, o.Form(FormID(f)))
		}
	}
	if !o.ConformsTo(id) {
		t.Error("the schema is lost")
	}
}
