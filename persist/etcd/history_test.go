package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
)

// cutOff is a log with a local copy that reaches the servers through a link.
type cutOff struct {
	*member
	cluster *etcdtest.Cluster
	link    *etcdtest.Link
	o       Options
}

// newCutOff opens a log that does not write, and another log whose writes the first log receives.
func newCutOff(t *testing.T) (a *cutOff, other *member) {
	t.Helper()
	cluster := etcdtest.Start(t, 1)
	other = open(t, Options{Endpoints: cluster.URLs(), Fatal: func(error) {}})
	same(t, "in the backup", other.append(create("/c/n/a", "1"), create("/c/n/b", "1")), "ok, ok")
	a = &cutOff{cluster: cluster, link: etcdtest.NewLink(t, cluster.Members[0].URL)}
	a.o = Options{Endpoints: []string{a.link.URL()}, Fatal: func(error) {}, HealthCheckTimeout: 1500 * time.Millisecond, CopyDir: t.TempDir()}
	a.member = open(t, a.o)
	a.await()
	return a, other
}

// restore cuts the link and restores the servers from a backup, or deletes all their data if backup
// is empty. A new log then writes until the servers' revision exceeds the newest one that a has
// seen.
func (a *cutOff) restore(backup string) *member {
	a.t.Helper()
	applied, _ := a.appliedRevision()
	a.link.Block()
	if backup == "" {
		a.cluster.Replace()
	} else {
		a.cluster.RestoreSaved(backup)
	}
	a.cluster.AwaitReady()
	c := open(a.t, Options{Endpoints: a.cluster.URLs()})
	for i := 0; ; i++ {
		key := fmt.Sprint("/c/n/new-", i)
		same(a.t, "a write of a new one", c.append(create(key, "1")), "ok")
		if now, _ := c.appliedRevision(); now > applied+3 {
			return c
		}
	}
}

func (a *cutOff) mend() {
	a.link.Reset()
	a.link.Mend()
}

// TestRestoredBelowAFollower restores the servers to a different history while a follower cannot
// reach them, and advances them beyond its revision. The follower must not confirm reads or write
// based on its old state. It must fail or reload the state.
func TestRestoredBelowAFollower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		// lost runs after the backup and before the log is cut off.
		lost     func(a *cutOff, other *member)
		replaced bool
	}{
		{"writes are lost", func(_ *cutOff, other *member) {
			same(t, "lost", other.append(put("/c/n/a", "lost", at("/c/n/a", other.revision("/c/n/a"))), create("/c/n/lost", "1")), "ok, ok")
		}, false},
		{"nothing below the prefix is lost", func(a *cutOff, _ *member) {
			for i := range 20 {
				must.Get(a.cluster.Client().Put(context.Background(), "/elsewhere", fmt.Sprint(i)))(t)
			}
		}, false},
		{"all of it is lost", func(*cutOff, *member) {}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, other := newCutOff(t)
			backup := ""
			if !c.replaced {
				backup = a.cluster.Save()
			}
			c.lost(a, other)
			a.await()
			fresh := a.restore(backup)
			a.mend()
			eventually(t, "an end or a rebuild", func() bool {
				_, err := a.Current(context.Background())
				if err == nil && !strings.Contains(a.text(), "new-0") {
					t.Fatalf("a read was confirmed by a state that never was:\n%s", a.text())
				}
				return err == nil || a.failure() != nil
			})
			if a.failure() == nil {
				fresh.await()
				same(t, "the state", a.text(), fresh.text())
			}
		})
	}
}

// TestWriteBelowARestore checks that a log that has not noticed a restore commits nothing, even if
// the backup contains the log's record.
func TestWriteBelowARestore(t *testing.T) {
	t.Parallel()
	cluster := etcdtest.Start(t, 1)
	o := Options{Endpoints: cluster.URLs(), Fatal: func(error) {}}
	a, b := openPaused(t, o, nil), open(t, o)
	transact := func(number uint64) bool {
		done, err := a.transact(t.Context(), &round{record: record{number: number, time: time.Now()}})
		if err == nil && done.Succeeded {
			a.recordAt = done.Header.Revision
		}
		return err == nil && done.Succeeded
	}
	if !transact(1) {
		t.Fatal("a write before the restore was refused")
	}
	backup := cluster.Save()
	same(t, "lost", b.append(create("/c/n/a", "lost")), "ok")
	applied, _ := b.appliedRevision()
	events := cluster.Client().Watch(t.Context(), a.keys.all(), clientv3.WithPrefix(), clientv3.WithRev(1))
	for delivered := int64(0); delivered < applied; {
		for revision, events := range byRevision((<-events).Events) {
			a.deliver(a.read(revision, events))
			delivered = revision
		}
	}
	same(t, "what was delivered", a.text(), b.text())

	cluster.RestoreSaved(backup)
	cluster.AwaitReady()
	for now := int64(0); now <= applied; {
		written := must.Get(cluster.Client().Put(t.Context(), "/elsewhere", ""))(t)
		now = written.Header.Revision
	}
	if transact(2) {
		t.Error("a write after the restore was committed")
	}
}

// TestCopyBelowARestore checks that a local copy is not used after a restore of the servers, unless
// the backup contains the copy's mark.
func TestCopyBelowARestore(t *testing.T) {
	t.Parallel()
	for _, copied := range []bool{false, true} { // whether a copy is written between the backup and the restore
		t.Run(fmt.Sprint("copied=", copied), func(t *testing.T) {
			t.Parallel()
			a, other := newCutOff(t)
			backup := a.cluster.Save()
			same(t, "lost", other.append(create("/c/n/lost", "1")), "ok")
			a.await()
			if copied {
				must.Succeed(t, a.snapshot())
			}
			fresh := a.restore(backup)
			a.mend()
			eventually(t, "servers that answer", func() bool {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, err := a.client.Get(ctx, "x")
				return err == nil
			})
			if err := a.snapshot(); err == nil && strings.Contains(a.text(), "lost") {
				t.Error("a copy of what is lost was written")
			}
			must.Succeed(t, a.Close())
			fresh.await()
			same(t, "one that begins from the copy", open(t, a.o).text(), fresh.text())
		})
	}
}

// TestCopyOfAnOlderVersion checks that a copy from a release that did not verify the history is not
// used.
func TestCopyOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	o := Options{Endpoints: etcdtest.Start(t, 1).URLs(), CopyDir: t.TempDir()}
	a := open(t, o)
	same(t, "a write", a.append(create("/c/n/a", "1")), "ok")
	must.Succeed(t, a.snapshot())
	var used origin
	loaded, err := a.copy.files.Load()
	if err == nil {
		err = json.Unmarshal(loaded.Origin, &used)
	}
	must.Succeed(t, err)
	used.Verified = false
	loaded.Items[0].Value = []byte("of no history")
	err = a.copy.files.Write(loaded.Revision, func(yield func(persist.Item) bool) error { yield(loaded.Items[0]); return nil }, func() ([]byte, error) { return json.Marshal(used) })
	must.Succeed(t, err)
	same(t, "the state of the next one", open(t, o).text(), a.text())
}
