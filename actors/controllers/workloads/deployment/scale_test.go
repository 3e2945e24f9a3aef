package deployment

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// set returns a ReplicaSet with a size and available Pods. age is the creation time, so a greater
// age means a younger ReplicaSet.
func set(age int, replicas, available int64, annotations ...string) *replicaSet {
	all := tree.Tree{}
	for _, a := range annotations {
		key, value, _ := strings.Cut(a, "=")
		all[key] = value
	}
	return &replicaSet{
		Item: &reconcile.Item{Head: reconcile.Head{Key: meta.Key{Name: fmt.Sprint("set", age)}}}, tree: tree.Tree{"metadata": tree.Tree{"annotations": all}},
		created: time.Unix(int64(age), 0), replicas: replicas, current: replicas, available: available,
	}
}

func rolling(replicas int64, surge, unavailable any) pace {
	return readPace(tree.Tree{"replicas": replicas, "strategy": tree.Tree{"type": "RollingUpdate", "rollingUpdate": tree.Tree{"maxSurge": surge, "maxUnavailable": unavailable}}})
}

func TestPace(t *testing.T) {
	for _, c := range []struct {
		replicas           int64
		surge, unavailable any
		wantSurge, want    int64
	}{
		{10, "25%", "25%", 3, 2},
		{1, "25%", "25%", 1, 0},
		{0, "25%", "25%", 0, 0},
		{4, int64(0), int64(9), 0, 4},
		{3, int64(0), "10%", 0, 1},
		{10, "100%", int64(0), 10, 0},
	} {
		if p := rolling(c.replicas, c.surge, c.unavailable); p.surge != c.wantSurge || p.maxUnavailable != c.want {
			t.Errorf("%d replicas, surge %v, unavailable %v: %d and %d", c.replicas, c.surge, c.unavailable, p.surge, p.maxUnavailable)
		}
	}
}

func TestNewSize(t *testing.T) {
	for _, c := range []struct {
		p                 pace
		newest, all, want int64
	}{
		{rolling(10, int64(2), int64(2)), 0, 10, 2},
		{rolling(10, int64(2), int64(2)), 5, 10, 7},
		{rolling(10, int64(2), int64(2)), 5, 12, 5},
		{rolling(10, int64(5), int64(2)), 8, 11, 10},
		{rolling(10, int64(2), int64(2)), 13, 13, 10},
		{pace{replicas: 7}, 0, 7, 7}, // Recreate
	} {
		if got := c.p.newSize(c.newest, c.all); got != c.want {
			t.Errorf("%+v: from %d of %d to %d, want %d", c.p, c.newest, c.all, got, c.want)
		}
	}
}

func sizes(all []sizing) string {
	var parts []string
	for _, s := range all {
		parts = append(parts, s.set.Key.Name+":"+strconv.FormatInt(s.size, 10))
	}
	return strings.Join(parts, " ")
}

func TestShrinkOld(t *testing.T) {
	for _, c := range []struct {
		name   string
		p      pace
		newest *replicaSet
		old    []*replicaSet
		want   string
	}{
		{"all work", rolling(10, int64(2), int64(2)), set(9, 2, 0), []*replicaSet{set(1, 10, 10)}, "set1:8"},
		{"new ones came up", rolling(10, int64(2), int64(2)), set(9, 4, 4), []*replicaSet{set(1, 8, 8)}, "set1:4"},
		{"old ones are broken", rolling(10, int64(2), int64(2)), set(9, 0, 0), []*replicaSet{set(1, 4, 0), set(2, 6, 6)}, "set1:2"},
		{"broken beyond need", rolling(10, int64(2), int64(2)), set(9, 4, 4), []*replicaSet{set(1, 3, 0), set(2, 5, 5)}, "set1:0 set2:4"},
		{"no room", rolling(10, int64(2), int64(0)), set(9, 2, 0), []*replicaSet{set(1, 10, 10)}, ""},
		{"nothing is left", rolling(3, int64(1), int64(0)), set(9, 3, 3), []*replicaSet{set(1, 0, 0)}, ""},
	} {
		if got := sizes(c.p.shrinkOld(c.newest, c.old)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestProportional checks rounding and the examples from the Kubernetes documentation of
// Deployments.
func TestProportional(t *testing.T) {
	n := newNames(meta.Kubernetes)
	most := func(i int) string { return n.max + "=" + strconv.Itoa(i) }
	for _, c := range []struct {
		name    string
		p       pace
		sets    []*replicaSet
		current int64
		want    string
	}{
		{"up", rolling(15, int64(3), int64(2)), []*replicaSet{set(1, 8, 8, most(13)), set(2, 5, 0, most(13))}, 13, "set1:11 set2:7"},
		{"down", rolling(5, int64(3), int64(2)), []*replicaSet{set(1, 8, 8, most(13)), set(2, 5, 0, most(13))}, 13, "set1:5 set2:3"},
		{"leftovers go to the largest", rolling(10, int64(0), int64(1)), []*replicaSet{set(1, 1, 1, most(3)), set(2, 1, 1, most(3)), set(3, 1, 1, most(3))}, 3, "set3:4 set2:3 set1:3"},
		{"to none", rolling(0, int64(3), int64(2)), []*replicaSet{set(1, 8, 8, most(13)), set(2, 5, 0, most(13))}, 13, "set1:0 set2:0"},
		{"no annotation", rolling(20, int64(0), int64(1)), []*replicaSet{set(1, 5, 5), set(2, 5, 5)}, 10, "set2:10 set1:10"},
	} {
		if got := sizes(c.p.proportional(n, c.sets, c.current)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestOnlyActive(t *testing.T) {
	a, b, none := set(1, 3, 3), set(2, 3, 3), set(3, 0, 0)
	for _, c := range []struct {
		newest *replicaSet
		old    []*replicaSet
		want   *replicaSet
	}{
		{nil, nil, nil}, {a, nil, a}, {none, []*replicaSet{a}, a}, {a, []*replicaSet{b}, nil}, {none, []*replicaSet{set(1, 0, 0)}, none}, {nil, []*replicaSet{set(1, 0, 0), none}, none},
	} {
		if got := onlyActive(c.newest, c.old); got != c.want {
			t.Errorf("%v %v: %v", c.newest, c.old, got)
		}
	}
}

func TestAppendRevision(t *testing.T) {
	for _, c := range [][3]string{{"", "1", "1"}, {"1", "2", "1,2"}, {"1,3", "7", "1,3,7"}} {
		if got := appendRevision(c[0], c[1]); got != c[2] {
			t.Errorf("%v: %s", c, got)
		}
	}
	long := strings.Repeat("1234567,", 300) + "1234567"
	if got := appendRevision(long, "9"); len(got) > maxHistoryLength || !strings.HasSuffix(got, ",1234567,9") {
		t.Errorf("%d characters, ending in %s", len(got), got[len(got)-20:])
	}
}

func TestProgress(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(reason, status string, ago time.Duration) []any {
		return []any{newCondition(progressing, status, reason, "m", now.Add(-ago))}
	}
	status := func(updated, replicas, available int64, conditions []any) tree.Tree {
		return tree.Tree{"updatedReplicas": updated, "replicas": replicas, "readyReplicas": available, "availableReplicas": available, "observedGeneration": int64(1), "conditions": conditions}
	}
	for _, c := range []struct {
		name     string
		old, now tree.Tree
		want     string
	}{
		{"complete", status(2, 2, 1, nil), status(2, 2, 2, at("ReplicaSetUpdated", "True", 0)), newSetAvailable},
		{"comes on", status(1, 2, 1, nil), status(2, 2, 1, at("NewReplicaSetCreated", "True", 0)), "ReplicaSetUpdated"},
		{"an old Pod went", status(1, 3, 1, nil), status(1, 2, 1, at("NewReplicaSetCreated", "True", 0)), "ReplicaSetUpdated"},
		{"stands still", status(1, 2, 1, nil), status(1, 2, 1, at("ReplicaSetUpdated", "True", time.Second)), "ReplicaSetUpdated"},
		{"for too long", status(1, 2, 1, nil), status(1, 2, 1, at("ReplicaSetUpdated", "True", 11*time.Second)), timedOut},
		{"and comes on after all", status(1, 2, 1, nil), status(2, 2, 1, at(timedOut, "False", time.Minute)), "ReplicaSetUpdated"},
		{"was complete, a Pod fails", status(2, 2, 2, nil), status(2, 2, 1, at(newSetAvailable, "True", time.Hour)), newSetAvailable},
	} {
		progress(tree.Tree{"progressDeadlineSeconds": int64(10)}, pace{replicas: 2}, c.old, c.now, "d", "d-1", 1, now)
		if got := reconcile.FindCondition(c.now.List("conditions"), progressing).String("reason"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
