package replicas

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// phaseRank ranks Pod phases. Pods with a lower rank are deleted first, because less work is lost.
var phaseRank = map[string]int{cluster.PodPending: 0, cluster.PodUnknown: 1, cluster.PodRunning: 2}

// toDelete returns the n Pods to delete. related are the Pods of all sets with the same controller.
// Pods on nodes with more related Pods are deleted first, which spreads a Deployment's Pods over
// nodes during a rollout.
func toDelete(pods, related []*cluster.Pod, n int, now time.Time) []*cluster.Pod {
	if n >= len(pods) {
		return pods
	}
	onNode := map[string]int{}
	for _, p := range related {
		if p.Active() {
			onNode[p.Node]++
		}
	}
	ranked := slices.Clone(pods)
	slices.SortStableFunc(ranked, func(a, b *cluster.Pod) int { return compare(a, b, onNode, now) })
	return ranked[:n]
}

// compare is negative if a must be deleted before b. The criteria, in order, are: without a node,
// earlier phase, not ready, lower deletion cost, more related Pods on the node, ready for less
// time, more restarts, younger. This order is API behavior. Ages are compared by order of
// magnitude. Pods of similar age are ordered by uid, which is random.
func compare(a, b *cluster.Pod, onNode map[string]int, now time.Time) int {
	if (a.Node == "") != (b.Node == "") {
		return before(a.Node == "")
	}
	if c := cmp.Compare(phaseRank[a.Phase], phaseRank[b.Phase]); c != 0 {
		return c
	}
	if a.Ready != b.Ready {
		return before(!a.Ready)
	}
	if c := cmp.Or(cmp.Compare(a.DeletionCost, b.DeletionCost), cmp.Compare(onNode[b.Node], onNode[a.Node])); c != 0 {
		return c
	}
	if a.Ready && !a.ReadySince.Equal(b.ReadySince) {
		return compareAges(a.ReadySince, b.ReadySince, a, b, now)
	}
	if c := cmp.Or(cmp.Compare(b.Restarts, a.Restarts), cmp.Compare(b.Sidecar, a.Sidecar)); c != 0 {
		return c
	}
	if !a.Created.Equal(b.Created) {
		return compareAges(a.Created, b.Created, a, b, now)
	}
	return 0
}

func before(yes bool) int {
	if yes {
		return -1
	}
	return 1
}

func compareAges(at, bt time.Time, a, b *cluster.Pod, now time.Time) int {
	if at.IsZero() || bt.IsZero() {
		return before(at.IsZero())
	}
	return cmp.Or(cmp.Compare(magnitude(now.Sub(at)), magnitude(now.Sub(bt))), cmp.Compare(a.UID, b.UID))
}

func magnitude(d time.Duration) int {
	if d <= 0 {
		return -1
	}
	return int(math.Log2(float64(d)))
}
