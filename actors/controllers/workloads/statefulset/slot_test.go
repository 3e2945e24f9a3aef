package statefulset

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

var now = time.Unix(1_000_000, 0)

// pod returns a Pod from text of the form "ordinal@revision". The suffix "!" means not ready, and
// "-" means terminating.
func pod(text string) *cluster.Pod {
	name, revision, _ := strings.Cut(strings.TrimRight(text, "!-"), "@")
	return &cluster.Pod{
		Head:  reconcile.Head{Key: meta.Key{Name: "s-" + name}, Labels: meta.Labels{{Key: revisionLabel, Value: revision}}, Terminating: strings.HasSuffix(text, "-")},
		Phase: cluster.PodRunning, Ready: !strings.HasSuffix(text, "!"), ReadySince: now.Add(-time.Hour),
	}
}

func podsOf(texts string) (pods []*cluster.Pod) {
	for _, text := range strings.Fields(texts) {
		pods = append(pods, pod(text))
	}
	return pods
}

func names(slots []slot) string {
	var parts []string
	for _, s := range slots {
		if s.pod == nil {
			parts = append(parts, fmt.Sprint(s.ordinal, "?"))
		} else {
			parts = append(parts, fmt.Sprint(s.ordinal))
		}
	}
	return strings.Join(parts, " ")
}

func TestArrange(t *testing.T) {
	for _, c := range []struct {
		start, replicas int64
		pods            string
		want, condemned string
	}{
		{0, 3, "", "0? 1? 2?", ""},
		{0, 3, "1 4 0 9", "0 1 2?", "9 4"},
		{5, 2, "5 4 7", "5 6?", "7 4"},
		{0, 0, "1 0", "", "1 0"},
		{0, 2, "x 01 -1 1", "0? 1", ""},
	} {
		slots, condemned, whole := plan{start: c.start, replicas: c.replicas}.arrange("s", podsOf(c.pods))
		if got := names(slots); got != c.want || names(condemned) != c.condemned || !whole {
			t.Errorf("%d from %d with %q: %q and %q, want %q and %q", c.replicas, c.start, c.pods, got, names(condemned), c.want, c.condemned)
		}
	}
	// Memory use must depend on the number of existing Pods, not on spec.replicas.
	slots, _, whole := plan{replicas: math.MaxInt32}.arrange("s", podsOf("2147483646 1"))
	if len(slots) != maxMissing+2 || whole || slots[len(slots)-1].ordinal != math.MaxInt32-1 {
		t.Errorf("%d slots", len(slots))
	}
}

func TestToUpdate(t *testing.T) {
	specs := map[string]tree.Tree{}
	for name, text := range map[string]string{
		"": `{}`, "partition": `{"partition":2,"maxUnavailable":1}`, "two": `{"maxUnavailable":2}`,
		"parallel": `{"maxUnavailable":2}`, "parallel partition": `{"partition":2,"maxUnavailable":2}`,
	} {
		rolling, err := tree.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		spec := tree.Tree{"replicas": int64(3), "updateStrategy": tree.Tree{"type": "RollingUpdate", "rollingUpdate": rolling}}
		if strings.HasPrefix(name, "parallel") {
			spec["podManagementPolicy"] = "Parallel"
		}
		specs[name] = spec
	}
	for _, c := range []struct {
		spec, pods, want string
	}{
		{"", "0@a 1@a 2@a", "s-2"},
		{"", "0@a 1@a 2@b", "s-1"},
		{"", "0@a 1@a 2@b!", ""},
		{"", "0@a 1@a 2@a-", ""},
		{"", "0@b 1@b 2@b", ""},
		{"partition", "0@a 1@a 2@b", ""},
		{"partition", "0@a 1@a 2@a", "s-2"},
		{"two", "0@a 1@a 2@a", "s-2 s-1"},
		{"two", "0@a 1@a! 2@a", "s-2"},
		{"parallel", "0@a! 1@a 2@a!", "s-2 s-0"},
		{"parallel", "0@a! 1@a 2@b-", "s-0"},
		{"parallel", "0@a 1@a! 2@b", "s-1 s-0"},
		{"parallel", "0@a 1@a 2@a", "s-2 s-1"},
		{"parallel partition", "0@a! 1@a! 2@a!", "s-2"},
	} {
		p := readPlan(specs[c.spec])
		slots, _, _ := p.arrange("s", podsOf(c.pods))
		var got []string
		for _, pod := range p.toUpdate(slots, "b", now) {
			got = append(got, pod.Key.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %q: %q, want %q", c.spec, c.pods, got, c.want)
		}
	}
}

func TestOwners(t *testing.T) {
	set := tree.Tree{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "u1", "controller": true}
	pod := tree.Tree{"apiVersion": "v1", "kind": "Pod", "name": "s-0", "uid": "u2", "controller": true}
	other := tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u3"}
	foreign := tree.Tree{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u3", "controller": true}
	former := tree.Tree{"apiVersion": "v1", "kind": "Pod", "name": "s-0", "uid": "u9", "controller": true}
	both, deleted, scaled := retention{true, true}, retention{whenDeleted: true}, retention{whenScaled: true}
	for i, c := range []struct {
		r       retention
		has     []any
		surplus bool
		want    []any // nil: unchanged
	}{
		{retention{}, nil, false, nil}, {retention{}, []any{set, other}, false, []any{other}},
		{deleted, []any{other}, false, []any{other, set}}, {deleted, []any{set}, true, nil}, {deleted, []any{foreign}, false, nil},
		{scaled, nil, false, nil}, {scaled, nil, true, []any{pod}}, {scaled, []any{pod}, false, []any{}}, {scaled, []any{former}, true, nil},
		{both, nil, false, []any{set}}, {both, []any{set}, true, []any{pod}},
	} {
		got, changed := c.r.owners(c.has, set, pod, c.surplus)
		if changed != (c.want != nil) || changed && !tree.SemanticEqual(got, c.want) {
			t.Errorf("%d: %v %t, want %v", i, got, changed, c.want)
		}
	}
}
