//go:build etcd

package storage

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/test/client"
)

// forgetful is a configuration with a watch history of one second, so that etcd compaction removes
// all older revisions.
const forgetful = `
shutdown-delay-duration: 500ms
etcd-write-timeout: 4s
etcd-healthcheck-timeout: 1s
etcd-compaction-interval: 1s
watch-history-time: 1s
`

const controllersLease = "/apis/coordination.platform.io/v1/namespaces/platform-system/leases/troupe-controllers"

// leader waits until a server's log shows that it runs the controllers, and returns that server. It
// ignores before, which may be nil.
func (c *linearCluster) leader(before *replica) (leads *replica) {
	c.t.Helper()
	client.Eventually(c.t, func() error {
		for _, r := range c.replicas {
			text := r.logs.String()
			if r != before && r.process != nil && strings.LastIndex(text, "became the leader: running the controllers") > max(strings.LastIndex(text, "lost the Lease of the controllers"), strings.LastIndex(text, started)) {
				leads = r
				return nil
			}
		}
		return errors.New("there is no leader")
	})
	return leads
}

func (c *linearCluster) holder(r *replica) string {
	c.t.Helper()
	a, err := r.Get(c.t.Context(), controllersLease)
	if err != nil || a.Code != 200 {
		c.t.Fatal(a, err)
	}
	return fmt.Sprint(a.Object().At("spec.holderIdentity"))
}

// TestPausedForLong pauses the leader until its Lease, the watch history and etcd's history have
// expired. The resumed server must not return stale data. A watch from before the pause must end
// with 410 or deliver every change. The new leader must keep running the controllers.
func TestPausedForLong(t *testing.T) {
	c := newClusterWith(t, forgetful, client.TroupeBinary(t), [3]time.Duration{})
	paused := c.leader(nil)
	var others []*replica
	for _, r := range c.replicas {
		if r != paused {
			others = append(others, r)
		}
	}
	version := c.create(paused, "before")
	watch := must.Get(paused.Watch(t.Context(), configMaps, url.Values{"resourceVersion": {strconv.FormatUint(version, 10)}}))(t)
	defer watch.Close()
	owner := c.create(others[0], "owner")
	a, err := others[0].Get(t.Context(), configMaps+"/owner")
	if err != nil || a.Code != 200 || a.Object().Version() != owner {
		t.Fatal(a, err)
	}
	dependent := client.ConfigMap("dependent", nil, nil)
	dependent["metadata"].(map[string]any)["ownerReferences"] = []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": a.Object().UID()}}
	if a, err = others[0].Create(t.Context(), configMaps, dependent); err != nil || a.Code != 201 {
		t.Fatal(a, err)
	}
	versions := []uint64{owner, a.Object().Version()}
	etcd := c.etcd.Client()
	found := must.Get(etcd.Get(t.Context(), "none"))(t)

	paused.pause()
	for i := range 20 {
		versions = append(versions, c.create(others[i%2], fmt.Sprint("meanwhile-", i)))
	}
	next := c.leader(paused)
	holder := c.holder(next)
	if a, err = next.Delete(t.Context(), configMaps+"/owner", nil); err != nil || a.Code != 200 {
		t.Fatal(a, err)
	}
	client.Eventually(t, func() error { // done by the next leader's controllers
		a, err := next.Get(t.Context(), configMaps+"/dependent")
		if err == nil && a.Code != 404 {
			err = &a
		}
		return err
	})
	client.Eventually(t, func() error {
		if _, err := etcd.Get(t.Context(), "none", clientv3.WithRev(found.Header.Revision)); !errors.Is(err, rpctypes.ErrCompacted) {
			return fmt.Errorf("revision %d is not compacted: %w", found.Header.Revision, err)
		}
		return nil
	})
	last := c.create(others[0], "last")

	paused.resume()
	fresh := 0
	client.Eventually(t, func() error {
		list, err := paused.List(t.Context(), configMaps, nil)
		if answer := (*client.Answer)(nil); errors.As(err, &answer) && answer.Code < 500 {
			t.Fatal(err)
		}
		if err != nil {
			return err
		}
		if list.Version < last || !strings.Contains(contents(list), "last ") || strings.Contains(contents(list), "dependent ") {
			t.Fatalf("an answer of version %d, before %d:\n%s", list.Version, last, contents(list))
		}
		if a, err := paused.Get(t.Context(), configMaps+"/owner"); err == nil && a.Code < 500 && a.Code != 404 {
			t.Fatal("what was deleted meanwhile: ", a)
		}
		if fresh++; fresh < 20 {
			return errors.New("once more")
		}
		return nil
	})
	seen := map[uint64]bool{}
	for {
		e, err := watch.Next()
		if err != nil || e.Type == client.Error && e.Code() == 410 {
			break // a client would list again
		}
		if e.Type == client.Error {
			t.Fatal(e)
		}
		if seen[e.Object.Version()] = true; e.Object.Version() >= last {
			for _, v := range versions {
				if !seen[v] {
					t.Errorf("the watch continued without version %d", v)
				}
			}
			break
		}
	}
	c.awaitReady()
	want := contents(c.list(others[0].Client))
	for i, r := range c.replicas {
		if got := contents(c.list(r.Client)); got != want {
			t.Errorf("daemon %d holds\n%s\nwant\n%s", i, got, want)
		}
	}
	client.Eventually(t, func() error {
		if !strings.Contains(paused.logs.String(), "lost the Lease of the controllers") {
			return errors.New("the paused daemon does not say that it leads no more")
		}
		return nil
	})
	if now := c.holder(paused); now != holder {
		t.Errorf("the controllers have gone from %s to %s", holder, now)
	}
}
