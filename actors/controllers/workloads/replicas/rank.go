package replicas

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
)

// phaseRank orders phases by how little is lost with a Pod.
var phaseRank = map[string]int{cluster.PodPending: 0, cluster.PodUnknown: 1, cluster.PodRunning: 2}

// toDelete are the n Pods to delete first. related are the Pods of all sets with the same controller: of equal Pods
// those go first that share their node with more of them.
// Looking at related Pods spreads what is left of a Deployment over the nodes while a rollout moves it from one set to
// another.
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

// compare is negative if a is to be deleted before b: without a node, in an earlier phase, not ready, of lower cost, on
// a fuller node, ready for less time, restarted more often, younger. Times are compared by their order of magnitude,
// so that Pods of about the same age go in a random order, by uid.
// The order of the criteria is part of how the API behaves, as users rely on the deletion cost to choose Pods; they only
// matter between Pods that are alike in everything before.
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

// before is the result of a comparison in which a goes first or, if not, b.
func before(yes bool) int {
	if yes {
		return -1
	}
	return 1
}

// compareAges puts the shorter time first; a time that is not known counts as none.
func compareAges(at, bt time.Time, a, b *cluster.Pod, now time.Time) int {
	if at.IsZero() || bt.IsZero() {
		return before(at.IsZero())
	}
	return cmp.Or(cmp.Compare(magnitude(now.Sub(at)), magnitude(now.Sub(bt))), cmp.Compare(a.UID, b.UID))
}

// magnitude is the logarithm of a time to the base 2.
// The unit is nanoseconds, so that Pods whose ages differ by less than a factor of two are mostly equal.
func magnitude(d time.Duration) int {
	if d <= 0 {
		return -1
	}
	return int(math.Log2(float64(d)))
}
