package deployment

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pace is how many Pods a Deployment wants, and how far it may be away from that while it is rolled out.
// All numbers are Pods, with percentages resolved already. While a rollout runs there are at most replicas+surge Pods
// wanted and at least replicas-maxUnavailable available. With Recreate surge and maxUnavailable are 0.
type pace struct {
	replicas              int64
	rolling               bool // the strategy RollingUpdate
	surge, maxUnavailable int64
}

// readPace resolves percentages: a surge is rounded up, what may be missing down. Both being none would stop the rollout.
// An object may get to both being none by percentages of few replicas, which validation cannot see.
func readPace(spec tree.Tree) pace {
	p := pace{}
	p.replicas, _ = spec.Int("replicas")
	strategy := spec.Object("strategy")
	if p.rolling = strategy.String("type") == "RollingUpdate"; !p.rolling {
		return p
	}
	rolling := strategy.Object("rollingUpdate")
	p.surge = cluster.Scaled(rolling["maxSurge"], p.replicas, true)
	p.maxUnavailable = cluster.Scaled(rolling["maxUnavailable"], p.replicas, false)
	if p.surge == 0 && p.maxUnavailable == 0 {
		p.maxUnavailable = 1
	}
	p.maxUnavailable = min(p.maxUnavailable, p.replicas)
	return p
}

// minAvailable is how many Pods have to be available at any time of a rollout.
func (p pace) minAvailable() int64 { return p.replicas - p.maxUnavailable }

// newSize is how large the newest set becomes next, beside the others.
// all is the size of all sets together, the newest included. Sizes that are wanted are counted, not Pods that are there:
// Pods on their way out do not hold up the rollout, and may for a while come on top of the surge.
func (p pace) newSize(newest int64, all int64) int64 {
	if !p.rolling {
		return p.replicas
	}
	if newest > p.replicas {
		return p.replicas
	}
	room := p.replicas + p.surge - all
	if room <= 0 {
		return newest
	}
	return newest + min(room, p.replicas-newest)
}

// A sizing is a set and how large it becomes.
// Deciding and writing are apart, so that the former can be tested without a store.
type sizing struct {
	set  *replicaSet
	size int64
}

// shrinkOld is how the old sets shrink next: first by what is not available there anyway, then by as many as the new
// set can do without.
// Pods of the newest set that are not available yet count as missing: old ones are kept in their place, so that a
// template which never becomes available cannot take down a Deployment. Pods that are not available are removed first
// because that costs nothing; if they blocked, a broken rollout could not be replaced by the next one.
func (p pace) shrinkOld(newest *replicaSet, old []*replicaSet) []sizing {
	all := append(slices.Clone(old), newest)
	if sum(old, wanted) == 0 {
		return nil
	}
	most := sum(all, wanted) - p.minAvailable() - (newest.replicas - newest.available)
	if most <= 0 {
		return nil
	}
	old = slices.SortedFunc(slices.Values(active(old)), byAge)
	sizes := map[*replicaSet]int64{}
	cleaned := int64(0)
	for _, rs := range old {
		n := max(0, min(most-cleaned, rs.replicas-rs.available))
		sizes[rs] = rs.replicas - n
		cleaned += n
	}
	// The second pass is bounded by what is available now, and takes from the oldest set first.
	spare := sum(all, available) - p.minAvailable()
	for _, rs := range old {
		n := max(0, min(sizes[rs], spare))
		sizes[rs] -= n
		spare -= n
	}
	var changes []sizing
	for _, rs := range old {
		if sizes[rs] != rs.replicas {
			changes = append(changes, sizing{rs, sizes[rs]})
		}
	}
	return changes
}

// proportional is how large the sets become when the Deployment is scaled in the middle of a rollout: each changes in
// proportion to its size, and the largest takes what rounding leaves over.
// Scaling must not stop the rollout or undo it, so old and new sets keep their share. The sum is then what is allowed,
// surge included; the rollout then goes on from there.
func (p pace) proportional(n names, sets []*replicaSet, current int64) []sizing {
	sets = active(sets)
	allowed := int64(0)
	if p.replicas > 0 {
		allowed = p.replicas + p.surge
	}
	toAdd := allowed - sum(sets, wanted)
	switch {
	case toAdd > 0:
		slices.SortFunc(sets, func(a, b *replicaSet) int { return cmp.Or(cmp.Compare(b.replicas, a.replicas), byAge(b, a)) })
	case toAdd < 0:
		slices.SortFunc(sets, func(a, b *replicaSet) int { return cmp.Or(cmp.Compare(b.replicas, a.replicas), byAge(a, b)) })
	}
	sizes, added := make([]sizing, len(sets)), int64(0)
	for i, rs := range sets {
		share := int64(0)
		if toAdd != added {
			share = p.fraction(n, rs, current)
			if left := toAdd - added; toAdd > 0 {
				share = min(share, left)
			} else {
				share = max(share, left)
			}
		}
		sizes[i] = sizing{rs, rs.replicas + share}
		added += share
	}
	if len(sizes) > 0 && toAdd != 0 {
		sizes[0].size = max(0, sizes[0].size+toAdd-added)
	}
	return sizes
}

// fraction is by how much one set changes. What the Deployment was allowed before is in an annotation of the set.
// Without it, the number of Pods of the Deployment before is taken. The result is negative when the set shrinks, and
// rounded to the nearest whole Pod.
func (p pace) fraction(n names, rs *replicaSet, current int64) int64 {
	if p.replicas == 0 {
		return -rs.replicas
	}
	before, ok := rs.number(n.max)
	if !ok || before == 0 {
		if before = current; before == 0 {
			return 0
		}
	}
	size := float64(rs.replicas*(p.replicas+p.surge)) / float64(before)
	return int64(math.Floor(size+0.5)) - rs.replicas
}

// saturated tells whether a set alone is all that the Deployment wants.
// The annotation is asked too: it says that the set was given this size for this number of replicas, and does not just
// happen to have it.
func (p pace) saturated(n names, rs *replicaSet) bool {
	if rs == nil {
		return false
	}
	desired, err := strconv.ParseInt(rs.annotation(n.desired), 10, 64)
	return err == nil && rs.replicas == p.replicas && desired == p.replicas && rs.available == p.replicas
}

// onlyActive is the one set that wants Pods, or the newest if none does; nil if several do.
// Only in that case can all of a change go to one set without thought of proportions.
func onlyActive(newest *replicaSet, old []*replicaSet) *replicaSet {
	all := old
	if newest != nil {
		all = append(slices.Clone(old), newest)
	}
	switch some := active(all); {
	case len(all) == 0 || len(some) > 1:
		return nil
	case len(some) == 1:
		return some[0]
	case newest != nil:
		return newest
	}
	return slices.MaxFunc(old, byAge)
}
