package actors_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
)

// revisions returns the whole history of an object, oldest first, read in pages.
func (h *testStore) revisions(name string, limit int) (all []request.Revision) {
	h.t.Helper()
	r := request.History{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: name}, Limit: limit}
	for {
		page, err := h.History(context.Background(), r)
		if statusCode(err) == 404 {
			return nil
		}
		must.Succeed(h.t, err)
		if limit > 0 && len(page.Revisions) > limit {
			h.t.Fatalf("%d revisions in a page of %d", len(page.Revisions), limit)
		}
		all = append(all, page.Revisions...)
		if r.Before = page.Before; r.Before == 0 {
			slices.Reverse(all)
			return all
		}
	}
}

// TestLoggedLists checks that exact lists and objects, and histories, are read from the log if
// memory keeps no changes.
func TestLoggedLists(t *testing.T) {
	for _, where := range []string{"log", "memory"} {
		t.Run(where, func(t *testing.T) {
			chance, seen, dir := rand.New(rand.NewPCG(3, 7)), listsByVersion{}, t.TempDir()
			h := open(t, dir, func(o *actors.Options) {
				if o.Tuning.HistoryBytes = 64 << 10; where == "memory" {
					o.Log, o.Tuning.HistoryBytes = struct{ persist.Log }{o.Log}, 64<<20
				}
			})
			defer func() { h.close() }()
			h.churn(chance, 300, seen)
			for i := range 8 { // the newest change of each object creates it
				_, err := h.do(request.Mutation{Change: request.Delete{}, Key: meta.Key{Name: fmt.Sprint("c", i)}})
				if c := statusCode(err); c != 0 && c != 404 {
					t.Fatal(err)
				}
				must.Get(h.create(fmt.Sprint("c", i), "newest"))(t)
			}
			if gone := h.checkLists(seen); (gone > 0) != (where == "log") {
				t.Fatalf("%d of %d versions are no longer in memory", gone, len(seen))
			}
			counts := map[request.EventType]int{}
			for version, want := range seen {
				l := h.list(request.List{Match: request.MatchExact, Version: version, Logged: true})
				if l.Version != version || !slices.Equal(listText(l.Items), want) {
					t.Fatalf("version %d shows\n%s\nwant\n%s", version, strings.Join(listText(l.Items), "\n"), strings.Join(want, "\n"))
				}
				var got []string
				for i := range 8 {
					o, err := h.Get(context.Background(), request.Get{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: fmt.Sprint("c", i)}, Version: version, Exact: true})
					if err == nil {
						got = append(got, string(o.JSON))
					} else if statusCode(err) != 404 {
						t.Fatal(err)
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("at version %d there are\n%s\nwant\n%s", version, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			for i := range 8 {
				exists := false
				for _, v := range h.revisions(fmt.Sprint("c", i), 3) {
					counts[v.Type]++
					if v.Object.Version != v.Version || v.Time.IsZero() || (v.Type != request.Added) != exists {
						t.Errorf("c%d: %v at %d of %s", i, v.Type, v.Version, v.Object.JSON)
					}
					exists = v.Type != request.Deleted
				}
			}
			if counts[request.Added] == 0 || counts[request.Modified] == 0 || counts[request.Deleted] == 0 {
				t.Errorf("the histories have %v", counts)
			}
			_, err := h.List(context.Background(), request.List{Kind: h.kind("configmaps"), Time: time.Now().Add(-time.Nanosecond)})
			if code := statusCode(err); (code == 400) != (where == "memory") || where == "log" && err != nil {
				t.Errorf("a list at a time: %v", err)
			}
		})
	}
}

// TestLoggedListIsBounded checks that a list is refused if it needs too much memory.
func TestLoggedListIsBounded(t *testing.T) {
	h := open(t, t.TempDir(), func(o *actors.Options) { o.Tuning.HistoryBytes = 10_000 })
	defer h.close()
	must.Get(h.create("zero", "x"))(t)
	first := must.Get(h.create("first", "x"))(t).Object.Version
	for i := range 4 {
		must.Get(h.create(fmt.Sprint("c", i), strings.Repeat("x", 4000)))(t)
	}
	before := h.Version()
	for i := range 4 {
		must.Get(h.patch(fmt.Sprint("c", i), `{"data":{"v":"`+strings.Repeat("y", 4000)+`"}}`))(t)
	}
	list := func(version uint64) error {
		_, err := h.List(context.Background(), request.List{Kind: h.kind("configmaps"), Match: request.MatchExact, Version: version, Logged: true})
		return err
	}
	if err := list(before); statusCode(err) != 413 {
		t.Errorf("the states before are listed: %v", err)
	}
	must.Succeed(t, list(first)) // the changed objects did not exist
	l := h.list(request.List{Match: request.MatchExact, Version: first, Logged: true, Limit: 1})
	if l.Continue != "" || len(l.Items) != 2 {
		t.Errorf("a list from the log has %d items and continues at %q", len(l.Items), l.Continue)
	}
}

// TestUnreadableRevision checks that the history of an object shows a state that does not decode as
// an error, and goes on.
func TestUnreadableRevision(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir, nil)
	must.Get(h.create("a", "1"))(t)
	h.close()
	j := must.Get(persist.Open(dir, persist.Options{}))(t)
	must.Get(j.Recover(persist.Recovery{}))(t)
	j.Subscribe(func([]persist.Commit, persist.Revision) {})
	key := meta.Key{GroupResource: h.kind("configmaps").Storage, Namespace: "default", Name: "a"}.String()
	must.Get(j.Append([]persist.Write{{Key: key, Value: []byte("not JSON"), RevisionOffset: -1}}))(t)
	must.Succeed(t, errors.Join(j.Close()))
	h = open(t, dir, nil)
	defer h.close()
	all := h.revisions("a", 0)
	if len(all) != 2 || all[0].Type != request.Added || all[1].Type != request.Error || all[1].Status.Code != 500 {
		t.Errorf("the history is %+v", all)
	}
}
