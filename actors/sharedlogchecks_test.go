package actors_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/persist"
)

func (s *sharedKeys) liveCommits(prefix string) map[string]persist.Commit {
	s.mu.Lock()
	defer s.mu.Unlock()
	live := maps.Clone(s.newest)
	maps.DeleteFunc(live, func(key string, c persist.Commit) bool { return c.Delete || !strings.HasPrefix(key, prefix) })
	return live
}

// checkSameState checks that a server returns exactly the stored objects, and quarantines objects
// that cannot be decoded.
func checkSameState(t *testing.T, keys *sharedKeys, s *server) {
	t.Helper()
	got, want := map[string]string{}, map[string]string{}
	for _, resource := range []string{"configmaps", "services"} {
		l := must.Get(s.List(context.Background(), request.List{Kind: s.kind(resource)}))(t)
		for _, o := range l.Items {
			got[o.Key.String()] = string(o.JSON)
		}
		for key, c := range keys.liveCommits("/" + resource + "/") {
			want[key] = string(c.Value)
		}
	}
	for _, u := range s.Unreadable() {
		got["/"+u.String()] = "{"
	}
	if !maps.Equal(got, want) {
		t.Errorf("a server shows\n%v\nstored is\n%v", got, want)
	}
}

func checkAcknowledged(t *testing.T, keys *sharedKeys, clients []*client) {
	t.Helper()
	live, total := keys.liveCommits("/configmaps/"), 0
	for _, c := range clients {
		for _, change := range c.acked {
			name, field, _ := strings.Cut(change, " ")
			if !strings.Contains(string(live["/configmaps/default/"+name].Value), `"`+field+`"`) {
				t.Errorf("%s of %s is lost", field, name)
			}
			total++
		}
	}
	if total < len(clients)*clientSteps/8 {
		t.Errorf("only %d patches were answered", total)
	}
}

func shared(t *testing.T, c persist.Commit) (names []string) {
	var service struct {
		Spec struct {
			ClusterIPs []string
			Ports      []struct{ NodePort int }
		}
	}
	must.Succeed(t, json.Unmarshal(c.Value, &service))
	names = service.Spec.ClusterIPs
	for _, p := range service.Spec.Ports {
		if p.NodePort > 0 {
			names = append(names, fmt.Sprint(p.NodePort))
		}
	}
	return names
}

func checkClaimsNeverShared(t *testing.T, keys *sharedKeys) {
	t.Helper()
	has := map[string][]string{}
	for _, c := range keys.commits() {
		if !strings.HasPrefix(c.Key, "/services/") {
			continue
		}
		if delete(has, c.Key); c.Delete {
			continue
		}
		for _, name := range shared(t, c) {
			for other, names := range has {
				if slices.Contains(names, name) {
					t.Errorf("at %d %s gets %s, which %s has", c.Revision, c.Key, name, other)
				}
			}
		}
		has[c.Key] = shared(t, c)
	}
}

func checkAllocated(t *testing.T, keys *sharedKeys, s *server) {
	t.Helper()
	want := map[string]int{s.allocator.APIServerServiceIP().String(): 1}
	for _, c := range keys.liveCommits("/services/") {
		for _, name := range shared(t, c) {
			want[name]++
		}
	}
	got := map[string]int{}
	synctest.Wait() // reservations are released shortly after the response
	for name, owners := range s.allocator.Allocated() {
		got[name] = len(owners)
	}
	if !maps.Equal(got, want) {
		t.Errorf("taken is %v, want %v", got, want)
	}
}

func checkRevisionsRise(t *testing.T, keys *sharedKeys) {
	t.Helper()
	last := persist.Revision(0)
	for _, c := range keys.commits() {
		if c.Revision <= last {
			t.Fatalf("revision %d after %d", c.Revision, last)
		}
		last = c.Revision
	}
}
