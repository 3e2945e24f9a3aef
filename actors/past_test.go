package actors_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
)

// revisions reads the whole history of an object in pages, and returns it oldest first.
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

// TestLoggedLists checks that exact lists, exact gets and histories are read from the log if memory
// keeps no changes.
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
}

// chunks reads a list in chunks and calls between before each chunk except the first.
func (h *testStore) chunks(r request.List, between func()) (items []*meta.Object) {
	h.t.Helper()
	for {
		l := h.list(r)
		if len(l.Items) > r.Limit || l.Continue != "" && len(l.Items) < r.Limit {
			h.t.Fatalf("a chunk of %d has %d objects", r.Limit, len(l.Items))
		}
		if items = append(items, l.Items...); l.Continue == "" {
			return items
		}
		if l.Remaining <= 0 {
			h.t.Errorf("%d objects remain", l.Remaining)
		}
		between()
		r = request.List{Limit: r.Limit, Continue: l.Continue}
	}
}

// TestLoggedChunks checks that all chunks of a list from the log have the same version, while the
// state is in memory, after it was dropped, and after a restart.
func TestLoggedChunks(t *testing.T) {
	chance, seen, dir := rand.New(rand.NewPCG(5, 7)), listsByVersion{}, t.TempDir()
	var clock atomic.Int64
	clock.Store(time.Now().Unix())
	log := &pausedLog{}
	configure := func(o *actors.Options) {
		o.Tuning.HistoryBytes, o.Now = 64<<10, func() time.Time { return time.Unix(clock.Load(), 0) }
		log.Journal, o.Log = o.Log.(*persist.Journal), log
	}
	h := open(t, dir, configure)
	defer func() { h.close() }()
	for i := range 8 {
		must.Get(h.create(fmt.Sprint("c", i), "oldest"))(t)
	}
	l := h.list(request.List{})
	want := listText(l.Items)
	h.churn(chance, 300, seen)
	for name, between := range map[string]func(){
		"kept":    func() {},
		"changed": func() { h.churn(chance, 5, seen) },
		"dropped": func() { h.DropCaches() },
		"much later": func() { // later than the expiry of a token for a state in memory
			clock.Add(3600)
			h.DropCaches()
		},
		"after a restart": func() {
			h.close()
			h = open(t, dir, configure)
		},
	} {
		for _, limit := range []int{1, 3, 8, 9} {
			before := log.count.Load()
			got := h.chunks(request.List{Match: request.MatchExact, Version: l.Version, Logged: true, Limit: limit}, between)
			if !slices.Equal(listText(got), want) {
				t.Errorf("%s: chunks of %d are\n%s\nwant\n%s", name, limit, strings.Join(listText(got), "\n"), strings.Join(want, "\n"))
			}
			if n := log.count.Load() - before; name == "kept" && n > 1 {
				t.Errorf("chunks of %d read the log %d times", limit, n)
			}
		}
	}
	first := request.List{Match: request.MatchExact, Version: l.Version, Logged: true, Limit: 1}
	h.list(first)
	clock.Add(3600)
	if before := log.count.Load(); !poll(func() bool { return len(h.list(first).Items) == 1 && log.count.Load() > before }) {
		t.Error("the state is kept forever")
	}
	h.list(first)
	h.churn(chance, 300, seen) // more than HistoryBytes
	if before := log.count.Load(); !poll(func() bool { return len(h.list(first).Items) == 1 && log.count.Load() > before }) {
		t.Error("the state keeps replaced objects that the history has dropped")
	}
}

// A pausedLog delays each read whose context has a gate until the gate opens.
type pausedLog struct {
	*persist.Journal
	started chan string
	count   atomic.Int64
}

type gateKey struct{}

func (l *pausedLog) Past(ctx context.Context) (*persist.Past, error) {
	l.count.Add(1)
	if gate, ok := ctx.Value(gateKey{}).(chan struct{}); ok {
		l.started <- ""
		<-gate
	}
	return l.Journal.Past(ctx)
}

// TestUsersTakeTurns checks that one user cannot occupy all concurrent reads of the log, and that
// their number is limited.
func TestUsersTakeTurns(t *testing.T) {
	log := &pausedLog{started: make(chan string)}
	h := open(t, t.TempDir(), func(o *actors.Options) { log.Journal, o.Log = o.Log.(*persist.Journal), log })
	defer h.close()
	must.Get(h.create("a", "1"))(t)
	read := func(ctx context.Context, user string) error {
		_, err := h.History(ctx, request.History{Kind: h.kind("configmaps"), Key: meta.Key{Namespace: "default", Name: "a"}, User: user})
		return err
	}
	gate := make(chan struct{})
	var reads sync.WaitGroup
	refused := func(user string) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := log.count.Load()
		for range 30 { // a read that could run would begin in half of them
			if err := read(ctx, user); statusCode(err) != 429 {
				t.Errorf("a read of %s: %v, want 429", user, err)
			}
		}
		if n := log.count.Load(); n != before {
			t.Errorf("%d reads of %s ran", n-before, user)
		}
	}
	for _, user := range []string{"ann", "bob"} {
		reads.Go(func() {
			if err := read(context.WithValue(t.Context(), gateKey{}, gate), user); err != nil {
				t.Errorf("the read of %s: %v", user, err)
			}
		})
		<-log.started
		refused(user)
	}
	refused("eve")
	close(gate)
	reads.Wait()
	must.Succeed(t, read(t.Context(), "ann"))
	must.Succeed(t, read(t.Context(), "eve"))
}

// TestUnreadableRevision checks that a history reports an undecodable state as an error and
// continues with the next one.
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
