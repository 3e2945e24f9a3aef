package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/persist/etcd/etcdtest"
	"github.com/troupe-api/troupe/test/client"
)

// A page is the response to a request for a page of a list. An error may contain a new continue
// token.
type page struct {
	Reason   string
	Metadata struct{ ResourceVersion, Continue string }
	Items    []client.Object

	code int
}

// page requests a page of a list. The code is 0 if the server does not respond within the timeout,
// which is shorter if the server is cut off from etcd.
func (r *replica) page(token string) (p page) {
	r.cluster.t.Helper()
	patience := client.Watchdog
	if r.cutOff.Load() {
		patience = 3 * time.Second
	}
	ctx, cancel := context.WithTimeout(r.cluster.t.Context(), patience)
	defer cancel()
	a, err := r.Get(ctx, configMaps+"?limit=2&continue="+url.QueryEscape(token))
	if err != nil {
		return p
	}
	if err := json.Unmarshal(a.Body, &p); err != nil {
		r.cluster.t.Fatal(err, a)
	}
	p.code = a.Code
	return p
}

// rest reads the remaining pages of a list from the servers in turn. It stops at the first response
// that is not 200 OK.
func rest(token string, at ...*replica) (names string, last page) {
	for i := 0; token != ""; i++ {
		if last = at[i%len(at)].page(token); last.code != 200 {
			return names, last
		}
		for _, o := range last.Items {
			names += o.Name() + " "
		}
		token = last.Metadata.Continue
	}
	return names, last
}

func (c *linearCluster) create(r *replica, name string) uint64 {
	c.t.Helper()
	a, err := r.Create(c.t.Context(), configMaps, client.ConfigMap(name, nil, map[string]string{"k": name}))
	if err != nil || a.Code != 201 {
		c.t.Fatalf("create %s: %v, %v", name, a, err)
	}
	return a.Object().Version()
}

func (c *linearCluster) compact() {
	c.t.Helper()
	etcd := c.etcd.Client()
	found, err := etcd.Get(c.t.Context(), "none")
	if err == nil {
		_, err = etcd.Compact(c.t.Context(), found.Header.Revision)
	}
	must.Succeed(c.t, err)
}

// TestListAcrossACompaction compacts etcd in the middle of a paged list that continues at other
// servers. Each server must return the remaining pages at the list's resource version, or report
// that it has expired. The error contains a token that continues the list on any server at the
// current version, never at an older one.
func TestListAcrossACompaction(t *testing.T) {
	c := newClusterLinear(t)
	behind, ahead, third := c.replicas[0], c.replicas[1], c.replicas[2]
	for i := range 9 {
		c.create(c.replicas[i%3], fmt.Sprint("c-", i))
	}
	first := ahead.page("")
	if first.code != 200 || len(first.Items) != 2 || first.Metadata.Continue == "" {
		t.Fatalf("%+v", first)
	}
	token := first.Metadata.Continue
	const whole = "c-2 c-3 c-4 c-5 c-6 c-7 c-8 "
	check := func(label string, want string, at ...*replica) {
		t.Helper()
		if names, last := rest(token, at...); names != want || last.code != 200 || last.Metadata.ResourceVersion != first.Metadata.ResourceVersion {
			t.Errorf("%s: %s, and then %+v", label, names, last)
		}
	}
	check("before", whole, behind, ahead, third)

	behind.block((*etcdtest.Link).Block)
	c.deleteAt(ahead, "c-4")
	c.create(ahead, "c-50")
	a, err := third.Patch(t.Context(), configMaps+"/c-6", map[string]any{"data": map[string]any{"k": "changed"}})
	if err != nil || a.Code != 200 {
		t.Fatal(a, err)
	}
	c.compact()
	check("at those that have followed", whole, ahead, third)
	if names, last := rest(token, behind); last.code == 200 && names != whole || last.code >= 400 && last.code < 500 {
		t.Errorf("at one that knows nothing: %s, and then %+v", names, last)
	}
	behind.reset()
	behind.mend()
	c.awaitReady()
	c.list(behind.Client) // ensures that the server has reloaded the state
	names, last := rest(token, behind)
	if names != "" || last.code != 410 || last.Reason != "Expired" || last.Metadata.Continue == "" {
		t.Fatalf("at the one that has missed it: %s, and then %+v, want 410", names, last)
	}
	check("at those that have followed, afterwards", whole, third, ahead)

	c.create(ahead, "d") // the version of an earlier list may be one that the server has not seen individually
	token = last.Metadata.Continue
	for _, at := range [][]*replica{{behind}, {ahead}, {third, behind, ahead}} {
		if names, last := rest(token, at...); names != "c-2 c-3 c-5 c-50 c-6 c-7 c-8 d " || last.code != 200 {
			t.Errorf("goes on with %s, and then %+v", names, last)
		}
	}
	behind.block((*etcdtest.Link).Block)
	c.create(ahead, "c-20")
	if p := behind.page(token); p.code == 200 {
		t.Errorf("goes on at one that is cut off with %+v", p.Items)
	}
	behind.reset()
	behind.mend()
	client.Eventually(t, func() error {
		p := behind.page(token)
		if p.code != 200 {
			return fmt.Errorf("%d %s", p.code, p.Reason)
		}
		if len(p.Items) != 2 || p.Items[1].Name() != "c-20" {
			t.Fatalf("goes on with %v", p.Items)
		}
		return nil
	})
}

func (c *linearCluster) deleteAt(r *replica, name string) {
	c.t.Helper()
	if a, err := r.Delete(c.t.Context(), configMaps+"/"+name, nil); err != nil || a.Code != 200 {
		c.t.Fatalf("delete %s: %v, %v", name, a, err)
	}
}

// TestListsAcrossCompactions lists in pages from all servers in turn while objects are created and
// deleted, etcd is compacted, and servers are cut off. A complete list must contain each permanent
// object once. Its pages must have one resource version, except after an expired token.
func TestListsAcrossCompactions(t *testing.T) {
	c := newClusterLinear(t)
	const stay = 10
	for i := range stay {
		c.create(c.replicas[i%3], fmt.Sprint("stay-", i))
	}
	lists, expired := 0, 0
	for round := range client.Rounds(t, 4, 1) {
		ahead, behind := c.replicas[round%3], c.replicas[(round+1)%3]
		first := ahead.page("")
		token, version, seen := first.Metadata.Continue, first.Metadata.ResourceVersion, map[string]int{}
		for _, o := range first.Items {
			seen[o.Name()]++
		}
		behind.block((*etcdtest.Link).Block)
		for i := range 4 {
			c.create(ahead, fmt.Sprintf("stay-5-go-%d-%d", round, i))
			if i > 1 {
				c.deleteAt(ahead, fmt.Sprintf("stay-5-go-%d-%d", round, i-2))
			}
		}
		c.compact()
		behind.reset()
		behind.mend()
		last, n := "", 0
		client.Eventually(t, func() error {
			for ; token != ""; n++ {
				p := c.replicas[(round+n)%3].page(token)
				switch {
				case p.code == 410 && p.Metadata.Continue != "":
					token, version = p.Metadata.Continue, ""
					expired++
					continue
				case p.code != 200:
					n++
					return fmt.Errorf("%d %s", p.code, p.Reason)
				case version != "" && p.Metadata.ResourceVersion != version:
					t.Fatalf("pages of versions %s and %s", version, p.Metadata.ResourceVersion)
				}
				for _, o := range p.Items {
					if seen[o.Name()]++; o.Name() <= last {
						t.Fatalf("%s follows %s", o.Name(), last)
					}
					last = o.Name()
				}
				token, version = p.Metadata.Continue, p.Metadata.ResourceVersion
			}
			return nil
		})
		for i := range stay {
			if name := fmt.Sprint("stay-", i); seen[name] != 1 {
				t.Fatalf("round %d: %s is %d times in the list", round, name, seen[name])
			}
		}
		for name, n := range seen {
			if n > 1 {
				t.Fatalf("round %d: %s is %d times in the list", round, name, n)
			}
		}
		lists++
		c.awaitReady()
		for i := range 2 {
			c.deleteAt(ahead, fmt.Sprintf("stay-5-go-%d-%d", round, i+2))
		}
	}
	client.Figures(t, "%d lists across a compaction, %d tokens expired", lists, expired)
}
