package storage

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// TestRestored restores etcd from a backup, as documented, while the servers run. No server may
// return objects that the restore has undone. After a restart, resource versions exceed all earlier
// ones, old watches and lists are rejected, and new requests succeed.
func TestRestored(t *testing.T) {
	c := newClusterLinear(t)
	kept := c.create(c.replicas[0], "kept")
	c.create(c.replicas[1], "too")
	before := c.list(c.replicas[2].Client)
	backup := c.etcd.Save()
	for i, r := range c.replicas {
		c.create(r, fmt.Sprint("lost-", i))
	}
	newest := c.list(c.replicas[0].Client).Version
	c.etcd.RestoreSaved(backup, "--bump-revision", "1000000000", "--mark-compacted")
	c.etcd.AwaitReady()
	for range 30 { // the servers detect the restore during these lists
		for i, r := range c.replicas {
			list, err := r.List(t.Context(), configMaps, nil)
			if err == nil && strings.Contains(contents(list), "lost") {
				t.Fatalf("daemon %d answers after the restore with\n%s", i, contents(list))
			}
		}
	}
	for _, r := range c.replicas {
		r.kill() // if it has not exited by itself
		r.start()
	}
	c.awaitReady()
	for i, r := range c.replicas {
		list := c.list(r.Client)
		if contents(list) != contents(before) || list.Version <= newest || list.Version >= 1<<62 {
			t.Errorf("daemon %d holds at version %d, after %d\n%s\nwant\n%s", i, list.Version, newest, contents(list), contents(before))
		}
		w := must.Get(r.Watch(t.Context(), configMaps, url.Values{"resourceVersion": {strconv.FormatUint(newest, 10)}}))(t)
		if e, err := w.Next(); err != nil || e.Code() != 410 {
			t.Errorf("daemon %d: a watch from before: %v, %v, want 410", i, e, err)
		}
		w.Close()
	}
	for i, r := range c.replicas {
		if version := c.create(r, fmt.Sprint("after-", i)); version <= newest {
			t.Errorf("daemon %d writes version %d after %d", i, version, newest)
		}
	}
	a, err := c.replicas[1].Get(t.Context(), configMaps+"/kept")
	if err != nil || a.Object().Version() != kept {
		t.Fatal(a, err)
	}
	o := a.Object()
	o["data"] = map[string]any{"k": "changed"}
	if a, err = c.replicas[2].Update(t.Context(), configMaps+"/kept", o); err != nil || a.Code != 200 || a.Object().Version() <= newest {
		t.Errorf("an update of what was kept: %v, %v", a, err)
	}
}

// TestRestoredBelowAPausedDaemon pauses a server and restores etcd from an older backup without
// increasing its revisions. Other servers then write past the last revision that the paused server
// has seen. That server must never return lost data, and must have the same objects as the others,
// even after a restart.
func TestRestoredBelowAPausedDaemon(t *testing.T) {
	c := newClusterLinear(t)
	paused, others := c.replicas[2], c.replicas[:2]
	c.create(others[0], "kept")
	backup := c.etcd.Save()
	for i := range 20 {
		c.create(others[i%2], fmt.Sprint("lost-", i))
	}
	if list := c.list(paused.Client); !strings.Contains(contents(list), "lost-19") {
		t.Fatal("the daemon has not seen what is written: ", contents(list))
	}
	etcd := c.etcd.Client()
	seen := must.Get(etcd.Get(t.Context(), "x"))(t)
	paused.pause()
	c.etcd.RestoreSaved(backup)
	c.etcd.AwaitReady()
	for _, r := range others {
		r.kill() // if it has not exited by itself
		r.start()
	}
	for i := 0; ; i++ {
		c.create(others[i%2], fmt.Sprint("new-", i))
		now := must.Get(etcd.Get(t.Context(), "x"))(t)
		if now.Header.Revision > seen.Header.Revision+20 {
			break
		}
	}
	want := contents(c.list(others[0].Client))

	paused.resume()
	client.Eventually(t, func() error {
		list, err := paused.List(t.Context(), configMaps, nil)
		switch {
		case errors.Is(err, syscall.ECONNREFUSED): // it has exited
			return nil
		case err == nil && contents(list) != want:
			t.Fatalf("an answer with\n%s\nwant\n%s", contents(list), want)
		}
		return err
	})
	paused.kill()
	paused.start()
	c.awaitReady()
	for i, r := range c.replicas {
		if got := contents(c.list(r.Client)); got != want {
			t.Errorf("daemon %d holds\n%s\nwant\n%s", i, got, want)
		}
	}
}
