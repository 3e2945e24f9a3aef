package etcd

import (
	"fmt"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

const overtaken = refused + ": another writer was faster"

func guarded(w persist.Write, raise bool, seen persist.Revision, names ...string) persist.Write {
	for _, name := range names {
		w.Guards = append(w.Guards, persist.Guard{Name: name, Seen: seen, Raise: raise})
	}
	return w
}

// TestGuards checks that a write is rejected if another log has raised the guard, and the writing
// log has not seen this yet.
func TestGuards(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	a, b := open(t, o), open(t, o)
	start := a.appliedVersion()
	same(t, "many of one log", a.append(guarded(create("/1", "x"), true, start, "g", "h"), guarded(create("/2", "x"), true, start, "g"), guarded(create("/3", "x"), true, start, "h")), "ok, ok, ok")
	same(t, "more of it", a.append(guarded(create("/4", "x"), true, start, "g")), "ok")
	same(t, "of another, before it knows", b.append(guarded(create("/5", "x"), true, start, "g"), guarded(create("/6", "x"), false, start, "g"), guarded(create("/7", "x"), true, start, "other")), overtaken+", "+overtaken+", ok")
	b.await()
	same(t, "with what it knew then", b.append(guarded(create("/5", "x"), true, start, "g")), overtaken)
	same(t, "with what it knows", b.append(guarded(create("/5", "x"), true, b.appliedVersion(), "g"), guarded(create("/6", "x"), false, b.appliedVersion(), "g")), "ok, "+overtaken)
	same(t, "names it before it is raised", b.append(guarded(create("/6", "x"), false, b.appliedVersion(), "g"), guarded(create("/8", "x"), true, b.appliedVersion(), "g")), "ok, ok")
	a.await()
	seen := a.appliedVersion()
	same(t, "the own raise, named", a.append(guarded(create("/9", "x"), true, seen, "g")), "ok")
	same(t, "the own raise, named afterwards", a.append(guarded(create("/10", "x"), false, seen, "g")), overtaken)
	stale := put("/1", "y", at("/1", 1))
	same(t, "refused for another reason", a.append(guarded(stale, true, seen, "g")), refused)
	c := open(t, o)
	same(t, "known to a new one", c.append(guarded(create("/11", "x"), true, seen, "g"), guarded(create("/11", "x"), true, c.appliedVersion(), "g")), overtaken+", ok")
}

// TestGuardedSum lets several logs consume a shared limit, protected by one guard. Together they
// must exhaust the limit but never exceed it.
func TestGuardedSum(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	const limit = 50
	logs := []*member{open(t, o), open(t, o), open(t, o)}
	var running sync.WaitGroup
	for i, m := range logs {
		running.Go(func() {
			for k := 0; ; {
				seen := m.appliedVersion()
				m.mu.Lock()
				used := len(m.state)
				m.mu.Unlock()
				if used >= limit {
					return
				}
				name := fmt.Sprintf("/%d/%d", i, k)
				if m.append(guarded(create(name, "x"), true, seen, "sum")) == "ok" {
					k++
				} else {
					m.await()
				}
			}
		})
	}
	running.Wait()
	for _, m := range logs {
		m.await()
		if len(m.state) != limit {
			t.Errorf("%d keys, want %d", len(m.state), limit)
		}
	}
}

// TestGuardsInOneMoment checks that a write is compared with the guard that it has seen, even if
// the guard is raised during planning. Otherwise etcd would commit an outdated write.
func TestGuardsInOneMoment(t *testing.T) {
	t.Parallel()
	l := &Log{guards: map[string]guard{}}
	var raising sync.WaitGroup
	stop := make(chan struct{})
	raising.Go(func() {
		for revision := int64(1); ; revision++ {
			select {
			case <-stop:
				return
			default:
				l.applyGuards(&delivery{revision: revision, writer: "another", guards: []event{{key: "g"}}}, l.revisions.upTo(revision))
			}
		}
	})
	for range 200_000 {
		l.mu.Lock()
		seen := l.guards["g"].raised
		l.mu.Unlock()
		var s step
		if _, err := l.addGuards(&s, []persist.Guard{{Name: "g", Seen: seen, Raise: true}}); err == nil && l.revisions.upTo(s.raises[0].at) > max(seen, wholeRevision) {
			t.Errorf("a write that has seen up to %d is compared with revision %d of etcd", seen, s.raises[0].at)
			break
		}
	}
	close(stop)
	raising.Wait()
}

func TestGuardsDropped(t *testing.T) {
	t.Parallel()
	c := etcdtest.Start(t, 1)
	a := open(t, Options{Endpoints: c.URLs()})
	same(t, "raised", a.append(guarded(create("/1", "x"), true, a.appliedVersion(), "g")), "ok")
	same(t, "later", a.append(create("/2", "x")), "ok")
	applied, _ := a.appliedRevision()
	must.Succeed(t, a.dropUnused(t.Context(), a.keys.guards(), applied))
	found, err := c.Client().Get(t.Context(), a.keys.guards(), clientv3.WithPrefix())
	if err != nil || len(found.Kvs) > 0 {
		t.Fatalf("%v, %v", found, err)
	}
	a.await()
	if len(a.guards) != 1 { // the other log may have deleted it
		t.Errorf("guards %v are known, want the one", a.guards)
	}
	same(t, "raised again", a.append(guarded(create("/3", "x"), true, a.appliedVersion(), "g")), "ok")
}

func TestGuardDeleted(t *testing.T) {
	t.Parallel()
	c := etcdtest.Start(t, 1)
	a, b := open(t, Options{Endpoints: c.URLs()}), open(t, Options{Endpoints: c.URLs()})
	seen := b.appliedVersion()
	same(t, "raised", a.append(guarded(create("/1", "x"), true, a.appliedVersion(), "g")), "ok")
	must.Get(c.Client().Delete(t.Context(), a.keys.guards(), clientv3.WithPrefix()))(t)
	b.await()
	same(t, "computed before", b.append(guarded(create("/2", "x"), true, seen, "g")), refused+": another writer was faster")
	same(t, "computed again", b.append(guarded(create("/2", "x"), true, b.appliedVersion(), "g")), "ok")
}

// TestManyGuards checks that a guard raised by several writes of a batch is stored once, within the
// servers' limits.
func TestManyGuards(t *testing.T) {
	t.Parallel()
	a := open(t, Options{Endpoints: etcdtest.Start(t, 1, "--max-txn-ops", "16").URLs()})
	var batch []persist.Write
	for i := range 60 {
		key := fmt.Sprintf("/k/%d", i)
		batch = append(batch, guarded(create(key, "x"), true, a.appliedVersion(), fmt.Sprint("g", i), fmt.Sprint("g", i+1)))
	}
	results := must.Get(a.Append(batch))(t)
	for i, r := range results {
		if r.Err != nil {
			t.Fatalf("write %d: %v", i, r.Err)
		}
	}
}

// TestFence checks that a log's late writes are rejected permanently once another log has raised
// the fence, even after a compaction. A log's own raises do not fence its writes.
func TestFence(t *testing.T) {
	t.Parallel()
	const fenced = refused + ": another writer has taken over"
	cluster := etcdtest.Start(t, 1)
	link := etcdtest.NewLink(t, cluster.Members[0].URL)
	a, b := open(t, Options{Endpoints: []string{link.URL()}}), open(t, Options{Endpoints: cluster.URLs()})
	fence := persist.FencePrefix + "work"
	take := func(m *member, key string) persist.Revision {
		t.Helper()
		same(t, "taking over", m.append(guarded(create(key, "x"), true, 0, fence)), "ok")
		return m.revision(key)
	}
	write := func(key string, taken persist.Revision) persist.Write {
		return guarded(create(key, "x"), false, taken, fence)
	}
	first := take(a, "/a1")
	same(t, "work", a.append(write("/1", first), write("/2", first)), "ok, ok")
	second := take(a, "/a2")
	same(t, "work of before", a.append(write("/3", first)), "ok")

	b.await()
	delivering := make(chan struct{})
	a.delivering.Lock() // a receives nothing
	go func() { <-delivering; a.delivering.Unlock() }()
	third := take(b, "/b1")
	answered := make(chan string)
	go func() { answered <- a.append(write("/4", second)) }()
	close(delivering)
	same(t, "work of one that does not know yet", <-answered, fenced)
	a.await()
	same(t, "work of one that knows", a.append(write("/4", second)), fenced)
	same(t, "work of the log that has taken over", b.append(write("/4", third)), "ok")

	applied, _ := b.appliedRevision()
	must.Succeed(t, b.dropUnused(t.Context(), b.keys.guards(), applied+1))
	b.await()
	a.await()
	same(t, "work after a compaction", a.append(write("/5", second)), fenced)

	// Without the fence, all fenced writes fail until a log raises it again.
	must.Get(cluster.Client().Delete(t.Context(), b.keys.guard(fence)))(t)
	b.await()
	a.await()
	same(t, "work of before, without the fence", a.append(write("/5", second)), fenced)
	same(t, "work of the last one, without the fence", b.append(write("/5", third)), fenced)
	third = take(b, "/b2")
	same(t, "work afterwards", b.append(write("/5", third)), "ok")

	// b keeps the fence after a rebuild. A restarted log that takes over also keeps the fence.
	must.Succeed(t, b.Log.rebuild())
	same(t, "work after a rebuild", b.append(write("/6", third)), "ok")
	c := open(t, Options{Endpoints: cluster.URLs()})
	fourth := take(c, "/c1")
	same(t, "work of a new one", c.append(write("/7", fourth)), "ok")
}
