package etcd

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// dropAll compacts everything that a log has seen and deletes old records and guards, as Trim does.
func dropAll(t *testing.T, m *member) {
	t.Helper()
	for range 2 { // the newest record is never dropped
		same(t, "something newer", m.append(put("/newer", "x", at("/newer", m.revision("/newer")))), "ok")
	}
	m.compaction.at, m.compaction.seen = 0, time.Now().Add(-time.Hour)
	found := must.Get(m.client.Get(t.Context(), m.keys.compaction()))(t)
	for _, kv := range found.Kvs {
		m.compaction.at = kv.ModRevision
	}
	m.compaction.mark, _ = m.appliedRevision()
	must.Succeed(t, m.Trim(m.appliedVersion()+1<<positionBits))
	m.await()
}

// TestGuardDroppedWhilePaused pauses a log while a guard is raised and later dropped because of its
// age. The paused log must not commit a write that was computed before the guard was raised. The
// cases cover logs with and without earlier writes, and different times of planning the write.
func TestGuardDroppedWhilePaused(t *testing.T) {
	t.Parallel()
	for _, wrote := range []bool{false, true} {
		for _, caughtUp := range []bool{false, true} {
			t.Run(fmt.Sprintf("wrote=%v,caughtUp=%v", wrote, caughtUp), func(t *testing.T) {
				t.Parallel()
				o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
				a, b := openPaused(t, o, nil), open(t, o)
				if wrote {
					done, err := a.transact(t.Context(), &round{record: record{number: 1, time: time.Now()}})
					if err != nil || !done.Succeeded {
						t.Fatal(done, err)
					}
					a.number, a.recordAt, a.undecided = 1, done.Header.Revision, false
				}
				seen := a.appliedVersion()
				same(t, "raised meanwhile", b.append(guarded(create("/1", "x"), true, b.appliedVersion(), "g")), "ok")
				dropAll(t, b)
				for _, prefix := range []string{b.keys.guards(), b.keys.record(a.writer)} {
					found, err := b.client.Get(t.Context(), prefix, clientv3.WithPrefix())
					if err != nil || len(found.Kvs) > 0 {
						t.Fatalf("%s: %v, %v", prefix, found, err)
					}
				}
				if caughtUp {
					a.resume()
					a.await()
				}
				sent := a.stats.rounds.Load()
				answer := make(chan string, 1)
				go func() { answer <- a.append(guarded(create("/2", "x"), true, seen, "g")) }()
				if !caughtUp {
					eventually(t, "a transaction", func() bool { return a.stats.rounds.Load() > sent })
					a.resume()
				}
				same(t, "computed before the pause", <-answer, overtaken)
				same(t, "computed again", a.append(guarded(create("/2", "x"), true, a.appliedVersion(), "g")), "ok")
			})
		}
	}
}

// TestDeliveredOnce checks that each revision is delivered once. A watch may repeat revisions when
// it resumes on a lagging etcd member, so both the follower and the recovery must skip them.
func TestDeliveredOnce(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs()}
	a := open(t, o)
	for i := range 5 {
		same(t, "a write", a.append(put("/c/n/a", fmt.Sprint(i), at("/c/n/a", a.revision("/c/n/a")))), "ok")
	}
	watched, cancel := context.WithCancel(t.Context())
	defer cancel()
	var again []*clientv3.Event
	for responses := a.client.Watch(watched, a.keys.all(), clientv3.WithPrefix(), clientv3.WithRev(1)); len(again) < 10; { // includes the records
		again = append(again, (<-responses).Events...)
	}
	before := commitsText(a.commits)
	for revision, events := range byRevision(again) {
		a.deliver(a.read(revision, events))
	}
	a.deliverProgress(1)
	same(t, "the commits", commitsText(a.commits), before)

	var got []int64
	last := int64(0)
	take := takeOnce(&last, func(revision int64, _ []persist.Commit) error {
		got = append(got, revision)
		return nil
	})
	for _, revision := range []int64{2, 3, 2, 3, 4} {
		must.Succeed(t, take(revision, []persist.Commit{}))
	}
	must.Succeed(t, take(4, nil))
	same(t, "in recovery", fmt.Sprint(got), "[2 3 4 4]")
}

// TestFragments checks that a watch receives changes that are larger than one gRPC message, even if
// the connection breaks repeatedly. A revision may be split across two messages.
func TestFragments(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	link := etcdtest.NewLink(t, cluster.Members[0].URL)
	a, b := open(t, Options{Endpoints: cluster.URLs()}), open(t, Options{Endpoints: []string{link.URL()}})
	b.await()
	link.Block()
	for i := range 60 {
		var batch []persist.Write
		for k := range 40 {
			key := fmt.Sprint("/c/n/", k)
			batch = append(batch, put(key, fmt.Sprint(i, strings.Repeat("x", 3000)), at(key, a.revision(key))))
		}
		results, err := a.Append(batch)
		if err != nil || results[39].Err != nil {
			t.Fatal(results, err)
		}
	}
	link.Reset()
	link.Mend()
	link.Slow(2 * time.Millisecond)
	for i := range 10 {
		const fewest = 20 // of about 230 fragments
		seen, want := link.Passed(), fewest*(1+i%3)
		eventually(t, "a part of the changes", func() bool { return link.Passed()-seen >= want })
		link.Reset()
	}
	link.Mend()
	b.await()
	same(t, "the commits", commitsText(b.commits), commitsText(a.commits))
	if n := len(b.commits); n != 60*40 || b.rebuilds > 0 {
		t.Errorf("%d commits and %d rebuilds", n, b.rebuilds)
	}
}

// TestGreatRevisions checks that servers are rejected if their revision is too large for a
// resourceVersion: Open returns an error, and a running log fails.
func TestGreatRevisions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base persist.Revision
		etcd int64
		ok   bool
	}{{0, 1 << 55, true}, {0, 1<<56 - 2, true}, {0, 1<<56 - 1, false}, {0, 1 << 60, false}, {1 << 62, 1<<55 - 2, true}, {1 << 62, 1 << 55, false}} {
		r := revisions{c.base}
		if err := r.check(c.etcd); (err == nil) != c.ok {
			t.Errorf("revision %d above %d: %v", c.etcd, c.base, err)
		}
		if v := r.upTo(c.etcd); c.ok && (v <= c.base || v > 1<<63-1) {
			t.Errorf("revision %d above %d is %d", c.etcd, c.base, v)
		}
	}
	fatal := make(chan error, 1)
	a := open(t, Options{Endpoints: etcdtest.Start(t, 1).URLs(), Fatal: func(err error) { fatal <- err }})
	before := a.appliedVersion()
	a.deliver(&delivery{revision: 1 << 60, objects: []event{{"/c/n/a", []byte("\x01\x00\x00{}"), false}}})
	if err := <-fatal; !strings.Contains(err.Error(), "--bump-revision") || a.appliedVersion() != before || len(a.commits) > 0 {
		t.Errorf("%v; applied %d after %d, %d commits", err, a.appliedVersion(), before, len(a.commits))
	}
}

// TestCopyCompactedDuringAStart checks that a log with a copy reloads the whole state if the
// changes since the copy are compacted during startup.
func TestCopyCompactedDuringAStart(t *testing.T) {
	t.Parallel()
	cluster, dir := etcdtest.Start(t, 1), t.TempDir()
	o := Options{Endpoints: cluster.URLs(), CopyDir: dir}
	a := open(t, o)
	same(t, "before", a.append(create("/c/n/a", "1"), create("/c/n/b", "1")), "ok, ok")
	must.Succeed(t, a.snapshot())
	base := a.appliedVersion()
	value := string(appendHead(nil, 0, -1)) + strings.Repeat("x", 4000)
	var writing sync.WaitGroup
	for i := range 10 {
		writing.Go(func() {
			for range 250 { // more than the servers send in one batch
				if _, err := a.client.Put(context.Background(), a.keys.object(fmt.Sprint("/c/n/", i)), value); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	a.await()
	same(t, "a delete", a.append(persist.Write{Key: "/c/n/b", Delete: true, RevisionOffset: -1}), "ok")
	applied, _ := a.appliedRevision()
	link := etcdtest.NewLink(t, cluster.Members[0].URL)
	link.Slow(5 * time.Millisecond)
	compacted := false
	o.Endpoints = []string{link.URL()}
	b := openWith(t, o, func(c persist.Commit) {
		if compacted || c.Revision <= base {
			return
		}
		compacted = true
		link.Block() // the rest has not arrived yet
		if _, err := cluster.Client().Compact(context.Background(), applied-10); err != nil {
			t.Error(err)
		}
		link.Reset()
		link.Mend()
	})
	b.await()
	same(t, "the state", b.text(), a.text())
	if n := b.stats.rebuilds.Load(); !compacted || n != 1 {
		t.Errorf("compacted %v, %d rebuilds", compacted, n)
	}
	same(t, "a write", b.append(create("/c/n/c", "1")), "ok")
}

// TestRestoredBelowALogThatIsCutOff restores the servers while a log cannot reach them, and
// advances them beyond its revision. The log must adopt the restored state or fail, and never
// return lost data. The backup may or may not contain the log's record.
func TestRestoredBelowALogThatIsCutOff(t *testing.T) {
	t.Parallel()
	for _, bumped := range []bool{false, true} {
		for _, wrote := range []bool{false, true} {
			for _, writes := range []bool{false, true} {
				t.Run(fmt.Sprintf("bumped=%v,wrote=%v,writes=%v", bumped, wrote, writes), func(t *testing.T) {
					t.Parallel()
					cluster := etcdtest.Start(t, 1)
					link := etcdtest.NewLink(t, cluster.Members[0].URL)
					o := Options{Endpoints: cluster.URLs()}
					first := open(t, o)
					same(t, "in the backup", first.append(create("/c/n/a", "1")), "ok")
					must.Succeed(t, first.Close())
					a := open(t, Options{Endpoints: []string{link.URL()}, Fatal: func(error) {}, HealthCheckTimeout: 1500 * time.Millisecond})
					if wrote {
						same(t, "of the log itself", a.append(create("/c/n/b", "1")), "ok")
					}
					backup := cluster.Save()
					same(t, "after the backup", a.append(put("/c/n/a", "lost", at("/c/n/a", a.revision("/c/n/a")))), "ok")
					newest := a.appliedVersion()
					link.Block()
					if bumped {
						cluster.RestoreSaved(backup, "--bump-revision", "1000000", "--mark-compacted")
					} else {
						cluster.RestoreSaved(backup)
					}
					cluster.AwaitReady()
					c := open(t, o)
					for i := range 20 {
						key := fmt.Sprint("/c/n/new-", i)
						same(t, "a write of a new one", c.append(create(key, "1")), "ok")
					}
					if now := c.appliedVersion(); strings.Contains(c.text(), "lost") || now <= newest || bumped && now>>positionBits < 1000000 || now > 1<<62 {
						t.Errorf("a new one is at %d after %d, with\n%s", now, newest, c.text())
					}
					link.Reset()
					link.Mend()
					tries := 0
					eventually(t, "an end or a rebuild", func() bool {
						var err error
						if writes {
							tries++
							key := fmt.Sprint("/c/n/x-", tries)
							var results []persist.Result
							if results, err = a.Append([]persist.Write{create(key, "1")}); err == nil {
								err = results[0].Err
							}
						} else {
							_, err = a.Current(context.Background())
						}
						if err == nil && strings.Contains(a.text(), "lost") {
							t.Fatal("a read or a write was confirmed by what shows what is lost")
						}
						return a.failure() != nil || err == nil
					})
					if a.failure() == nil {
						c.await()
						same(t, "the state", a.text(), c.text())
						eventually(t, "a write", func() bool { // a slow server may exceed the timeout of the first write
							tries++
							key := fmt.Sprint("/c/n/x-", tries)
							results, err := a.Append([]persist.Write{create(key, "1")})
							return err == nil && results[0].Err == nil
						})
					} else if _, err := a.Append([]persist.Write{create("/c/n/z", "1")}); err == nil {
						t.Error("a log that has ended writes")
					}
				})
			}
		}
	}
}

func TestCopyOfAClosedLog(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs(), CopyDir: t.TempDir()}
	a := open(t, o)
	same(t, "a write", a.append(create("/c/n/a", "1")), "ok")
	must.Succeed(t, a.snapshot())
	before, err := a.copy.files.Load()
	must.Succeed(t, err)
	same(t, "more", a.append(create("/c/n/b", "1")), "ok")
	closed := make(chan error, 1)
	err = a.Snapshot(a.appliedVersion(), 0, func(yield func(persist.Item) bool) error {
		yield(persist.Item{Key: "/c/n/a", Value: []byte("{}"), Revision: 1})
		go func() { closed <- a.Close() }()
		<-a.ctx.Done()
		if yield(persist.Item{Key: "/c/n/b", Value: []byte("{}"), Revision: 2}) {
			t.Error("the copy goes on")
		}
		return nil
	})
	if err == nil {
		t.Error("the copy was written")
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	found, err := a.copy.files.Load()
	if err != nil || found.Revision != before.Revision || len(found.Items) != 1 {
		t.Errorf("%v, %v, want the copy at %d", found, err, before.Revision)
	}
}
