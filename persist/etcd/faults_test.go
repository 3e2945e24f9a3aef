package etcd

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

func eventually(t *testing.T, name string, ok func() bool) {
	t.Helper()
	tick, watchdog := time.NewTicker(5*time.Millisecond), time.After(5*time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-watchdog:
			t.Fatal(name, " does not happen")
		}
	}
}

func TestUnknownFate(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	l := etcdtest.NewLink(t, cluster.Members[0].URL)
	a := open(t, Options{Endpoints: []string{l.URL()}, WriteTimeout: 3 * time.Second, HealthCheckTimeout: 1500 * time.Millisecond})
	b := open(t, Options{Endpoints: cluster.URLs()})
	same(t, "before", a.append(create("/c/n/a", "1")), "ok")
	l.BlockAnswers() // requests arrive, responses do not
	results, err := a.Append([]persist.Write{create("/c/n/b", "1")})
	if err != nil || !errors.Is(results[0].Err, persist.ErrUnknown) {
		t.Fatalf("a write without an answer: %v, %v, want %v", results, err, persist.ErrUnknown)
	}
	if _, err := a.Append([]persist.Write{create("/c/n/c", "1")}); !errors.Is(err, persist.ErrUnavailable) {
		t.Fatalf("a write while it is not known: %v, want %v", err, persist.ErrUnavailable)
	}
	l.Reset()
	l.Mend()
	eventually(t, "writing", func() bool {
		results, err := a.Append([]persist.Write{create("/c/n/b", "2")})
		if err == nil && !errors.Is(results[0].Err, persist.ErrCondition) {
			t.Errorf("the write is refused with %v, since it was committed before", results[0].Err)
		}
		return err == nil
	})
	b.await()
	a.await()
	same(t, "in the end", a.text(), b.text())
	if !strings.Contains(a.text(), `/c/n/b={"v":"`) {
		t.Error("the write that was not known is not there")
	}
	if n := a.Stats(); n.Commits != 1 {
		t.Errorf("%d commits are counted, want 1", n.Commits)
	}
}

func TestAway(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	a := open(t, Options{Endpoints: cluster.URLs(), WriteTimeout: time.Hour, HealthCheckTimeout: 1500 * time.Millisecond})
	same(t, "before", a.append(create("/c/n/a", "1")), "ok")
	cluster.Members[0].Pause()
	eventually(t, "noticing", func() bool { return a.Healthy() != nil })
	if _, err := a.Append([]persist.Write{create("/c/n/b", "1")}); !errors.Is(err, persist.ErrUnavailable) {
		t.Errorf("a write is answered %v, want %v", err, persist.ErrUnavailable)
	}
	if _, err := a.Current(context.Background()); !errors.Is(err, persist.ErrUnavailable) {
		t.Errorf("a confirmation is answered %v, want %v", err, persist.ErrUnavailable)
	}
	cluster.Members[0].Resume()
	eventually(t, "recovering", func() bool { return a.Healthy() == nil })
	eventually(t, "writing", func() bool {
		results, err := a.Append([]persist.Write{create("/c/n/b", "1")})
		return err == nil && results[0].Err == nil
	})
}

// TestRebuild checks that a log reloads the state if the revision that it had reached was
// compacted, and that the reloaded state lacks objects that were deleted in the meantime.
func TestRebuild(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	l := etcdtest.NewLink(t, cluster.Members[0].URL)
	a := open(t, Options{Endpoints: []string{l.URL()}})
	b := open(t, Options{Endpoints: cluster.URLs()})
	same(t, "before", b.append(create("/c/n/a", "1"), create("/c/n/b", "1")), "ok, ok")
	a.await()
	l.Block()
	same(t, "meanwhile", b.append(
		persist.Write{Key: "/c/n/a", Delete: true, RevisionOffset: -1, Conditions: []persist.Condition{at("/c/n/a", b.revision("/c/n/a"))}},
		put("/c/n/b", "2", at("/c/n/b", b.revision("/c/n/b"))), create("/c/n/c", "1")), "ok, ok, ok")
	w := create("/s/x", "1")
	w.Claims = []persist.Claim{{Name: "address"}}
	same(t, "a claim", b.append(w), "ok")
	applied, _ := b.appliedRevision()
	must.Get(cluster.Client().Compact(context.Background(), applied, clientv3.WithCompactPhysical()))(t)
	l.Reset()
	l.Mend()
	eventually(t, "the rebuild", func() bool { a.mu.Lock(); defer a.mu.Unlock(); return a.rebuilds > 0 })
	a.await()
	same(t, "afterwards", a.text(), b.text())
	w.Key = "/s/y"
	w.Conditions = []persist.Condition{at("/s/y", 0)}
	same(t, "the claim afterwards", a.append(w), refused)
	same(t, "a write afterwards", a.append(create("/c/n/d", "1")), "ok")
	c := open(t, Options{Endpoints: cluster.URLs()})
	same(t, "a new one", c.text(), a.text())
	if want := c.revisions.upTo(applied); c.after != want {
		t.Errorf("the history of a new one begins after %d, want %d", c.after, want)
	}
}

// TestCompactedDuringAStart checks that a log opened during a compaction gets the newest state and
// a history without gaps.
func TestCompactedDuringAStart(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	a := open(t, Options{Endpoints: cluster.URLs()})
	value := string(appendHead(nil, 0, -1)) + strings.Repeat("x", 4000)
	var writing sync.WaitGroup
	for range 10 {
		writing.Go(func() {
			for range 250 { // more than the servers send in one batch
				if _, err := a.client.Put(context.Background(), a.keys.object("/c/n/a"), value); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	a.await()
	link := etcdtest.NewLink(t, cluster.Members[0].URL)
	link.Slow(5 * time.Millisecond)
	applied, _ := a.appliedRevision()
	compacted := false
	b := openWith(t, Options{Endpoints: []string{link.URL()}}, func(persist.Commit) {
		if compacted {
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
	same(t, "the state", b.text(), a.text())
	if want := a.revisions.upTo(applied - 10); b.after != want || len(b.history) != 10 || b.history[0].Revision <= want {
		t.Errorf("the history begins after %d and has %d commits, want 10 after %d", b.after, len(b.history), want)
	}
}

func TestTrim(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	o := Options{Endpoints: cluster.URLs(), CompactionInterval: time.Millisecond}
	a, b := open(t, o), open(t, o)
	for i := range 5 {
		a.append(put("/c/n/a", fmt.Sprint(i), at("/c/n/a", a.revision("/c/n/a"))))
	}
	keep := a.revision("/c/n/a")
	b.await() // otherwise b would have to read the state again
	trim := func(m *member) int64 {
		t.Helper()
		must.Succeed(t, m.Trim(keep))
		return m.compacted.Load()
	}
	if trim(a) != 0 {
		t.Error("a log that has just begun has compacted")
	}
	trim(b)
	eventually(t, "a compaction", func() bool { return trim(a) > 0 })
	b.o.CompactionInterval = time.Hour
	if trim(b) != 0 {
		t.Error("another log has compacted at the same time")
	}
	same(t, "a write afterwards", b.append(create("/c/n/b", "1")), "ok")
	c := open(t, o)
	if len(c.history) != 2 || c.history[0].Revision != keep {
		t.Errorf("the history begins with %s, want revision %d", commitsText(c.history), keep)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1, "--max-txn-ops", "16", "--max-request-bytes", "20000")
	a := open(t, Options{Endpoints: cluster.URLs()})
	var batch []persist.Write
	for i := range 200 {
		key := fmt.Sprint("/c/n/", i)
		size := 500
		if i == 77 {
			size = 30000
		}
		batch = append(batch, put(key, strings.Repeat("x", size), at(key, 0)))
	}
	results := must.Get(a.Append(batch))(t)
	for i, r := range results {
		if i == 77 && !errors.Is(r.Err, persist.ErrTooLarge) || i != 77 && r.Err != nil {
			t.Errorf("write %d: %v", i, r.Err)
		}
	}
	if len(a.state) != 199 {
		t.Errorf("%d keys are there, want 199", len(a.state))
	}
}

// TestManyWriters runs several logs that write the same keys over links that drop responses. No
// acknowledged write may be lost, each write must be based on the previous one, and all logs must
// see the same order.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	var members []*member
	var links []*etcdtest.Link
	for range 3 {
		l := etcdtest.NewLink(t, cluster.Members[0].URL)
		links = append(links, l)
		members = append(members, open(t, Options{Endpoints: []string{l.URL()}, WriteTimeout: 400 * time.Millisecond, HealthCheckTimeout: 200 * time.Millisecond}))
	}
	var wait, faults sync.WaitGroup
	stop := make(chan struct{})
	answered := make([]chan struct{}, len(members)) // signals each response, and is closed after the last one
	for n := range answered {
		answered[n] = make(chan struct{})
	}
	faults.Go(func() {
		chance := rand.New(rand.NewPCG(5, 6))
		await := func(n, answers int) {
			for range answers {
				<-answered[n]
			}
		}
		for {
			select {
			case <-stop:
				return
			default:
			}
			n := chance.IntN(len(links))
			await(n, 1+chance.IntN(10))
			links[n].BlockAnswers()
			await(n, chance.IntN(4))
			links[n].Reset()
			links[n].Mend()
		}
	})
	acked := make([]map[string]bool, len(members))
	for n, m := range members {
		acked[n] = map[string]bool{}
		wait.Go(func() {
			defer close(answered[n])
			pause := time.NewTicker(20 * time.Millisecond)
			defer pause.Stop()
			chance := rand.New(rand.NewPCG(uint64(n), 1))
			for i, left := 0, 60; left > 0; i++ {
				key := fmt.Sprint("/c/n/", chance.IntN(4))
				base := m.revision(key)
				mark := fmt.Sprintf("%d.%d<%d", n, i, base)
				results, err := m.Append([]persist.Write{put(key, mark, at(key, base)), put("/own/"+mark, mark, at("/own/"+mark, 0))})
				select {
				case answered[n] <- struct{}{}:
				default:
				}
				if err != nil { // the log has not recovered yet
					<-pause.C
					continue
				}
				left--
				for j, r := range results {
					if r.Err == nil {
						acked[n][fmt.Sprint(j, mark)] = true
					}
				}
			}
		})
	}
	wait.Wait()
	close(stop)
	faults.Wait()
	for _, m := range members {
		eventually(t, "health", func() bool { return m.Healthy() == nil })
		m.await()
	}
	judge := open(t, Options{Endpoints: cluster.URLs()})
	newest, seen := map[string]persist.Revision{}, map[string]bool{}
	for _, c := range judge.history {
		mark := strings.Split(string(c.Value), `"`)[7]
		if shared := strings.HasPrefix(c.Key, "/c/"); shared {
			if want := fmt.Sprint("<", newest[c.Key]); !strings.HasSuffix(mark, want) {
				t.Errorf("%s follows %s", mark, want)
			}
			mark = "0" + mark
		} else {
			mark = "1" + mark
		}
		if seen[mark] {
			t.Errorf("%s was committed twice", mark)
		}
		newest[c.Key], seen[mark] = c.Revision, true
	}
	total := 0
	for n, m := range members {
		for mark := range acked[n] {
			total++
			if !seen[mark] {
				t.Errorf("%s was acknowledged and is lost", mark)
			}
		}
		same(t, fmt.Sprint("the state of ", n), m.text(), judge.text())
		if m.rebuilds == 0 {
			same(t, fmt.Sprint("the commits of ", n), commitsText(m.commits), commitsText(judge.history))
		}
	}
	if total < 60 {
		t.Errorf("only %d writes were acknowledged", total)
	}
}
