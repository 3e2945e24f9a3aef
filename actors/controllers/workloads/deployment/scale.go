package deployment

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pace holds the desired number of Pods and the tolerances of a rollout, in Pods. The ReplicaSets
// may have at most replicas+surge Pods, and at least replicas-maxUnavailable must be available.
// With Recreate, both tolerances are 0.
type pace struct {
	replicas              int64
	rolling               bool // strategy RollingUpdate
	surge, maxUnavailable int64
}

// readPace converts the percentages in a strategy to numbers of Pods. It rounds maxSurge up and
// maxUnavailable down. If both become 0, which validation cannot detect, it sets maxUnavailable to
// 1, because otherwise the rollout could not proceed.
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

func (p pace) minAvailable() int64 { return p.replicas - p.maxUnavailable }

// newSize returns the next size of the newest ReplicaSet. all is the total size of all ReplicaSets,
// which excludes terminating Pods. These do not delay the rollout, but the number of Pods may
// temporarily exceed the surge.
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

// A sizing is a decision about the size of a ReplicaSet. setSize writes it later, so that decisions
// can be tested without a store.
type sizing struct {
	set  *replicaSet
	size int64
}

// shrinkOld returns the next sizes of the old ReplicaSets. It removes unavailable old Pods first,
// so that a rollout can replace a broken revision. It then removes available old Pods while enough
// Pods stay available. Unavailable Pods of the newest ReplicaSet count as missing, so that a broken
// template cannot take down a Deployment.
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

// proportional returns the sizes of the ReplicaSets when a Deployment is scaled during a rollout.
// Each size changes proportionally, and the largest ReplicaSet absorbs the rounding remainder. The
// sum is the allowed total, including the surge.
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

// fraction returns the change in a ReplicaSet's size when the Deployment is scaled. It reads the
// Deployment's previous maximum from the ReplicaSet's annotation. If that is missing, it uses
// current, the Deployment's number of Pods.
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

func (p pace) saturated(n names, rs *replicaSet) bool {
	if rs == nil {
		return false
	}
	desired, err := strconv.ParseInt(rs.annotation(n.desired), 10, 64)
	return err == nil && rs.replicas == p.replicas && desired == p.replicas && rs.available == p.replicas
}

// onlyActive returns the only ReplicaSet with a size above 0, or the newest if all sizes are 0. It
// returns nil if several ReplicaSets are active, because a change must then be divided among them.
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
