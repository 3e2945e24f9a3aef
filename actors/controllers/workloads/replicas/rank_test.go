package replicas

import (
	"slices"
	"testing"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
)

// TestToDelete checks the deletion order. Each Pod in the list must be deleted before all later
// Pods.
func TestToDelete(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	pod := func(name string, change func(*cluster.Pod)) *cluster.Pod {
		p := &cluster.Pod{Head: reconcile.Head{Key: meta.Key{Name: name}, UID: name}, Phase: cluster.PodRunning, Node: "n", Ready: true, ReadySince: now.Add(-time.Hour), Created: now.Add(-2 * time.Hour)}
		change(p)
		return p
	}
	want := []*cluster.Pod{
		pod("no node", func(p *cluster.Pod) { p.Node, p.Phase, p.Ready = "", cluster.PodPending, false }),
		pod("pending", func(p *cluster.Pod) { p.Phase, p.Ready = cluster.PodPending, false }),
		pod("unknown", func(p *cluster.Pod) { p.Phase, p.Ready = cluster.PodUnknown, false }),
		pod("not ready", func(p *cluster.Pod) { p.Ready = false }),
		pod("cheap", func(p *cluster.Pod) { p.DeletionCost = -5 }),
		pod("crowded", func(p *cluster.Pod) { p.Node = "full" }),
		pod("just ready", func(p *cluster.Pod) { p.ReadySince = now.Add(-time.Second) }),
		pod("restarts", func(p *cluster.Pod) { p.Restarts = 3 }),
		pod("young", func(p *cluster.Pod) { p.Created = now.Add(-time.Minute) }),
		pod("old", func(*cluster.Pod) {}),
		pod("dear", func(p *cluster.Pod) { p.DeletionCost = 5 }),
	}
	related := slices.Clone(want)
	for range 20 {
		related = append(related, pod("other", func(p *cluster.Pod) { p.Node = "full" }))
	}
	for i := range want {
		for j := i + 1; j < len(want); j++ {
			for _, pods := range [][]*cluster.Pod{{want[i], want[j]}, {want[j], want[i]}} {
				if got := toDelete(pods, related, 1, now); got[0] != want[i] {
					t.Errorf("%q goes before %q", want[j].Key.Name, want[i].Key.Name)
				}
			}
		}
	}
}
