package daemonset

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pace is how many nodes may be without a Pod that works, or have two, while a DaemonSet is updated.
// Validation allows only one of the two to be more than none.
type pace struct{ surge, unavailable int }

// pace resolves percentages of the nodes to run on. Both being none would stop the update.
// Both percentages are rounded up, unlike those of Deployments. desired is the number of nodes to run on.
func (t *turn) pace(strategy tree.Tree) (p pace, desired int) {
	for _, n := range t.nodes {
		if run, _ := t.fits(n); run {
			desired++
		}
	}
	rolling := strategy.Object("rollingUpdate")
	p.surge = int(cluster.Scaled(rolling["maxSurge"], int64(desired), true))
	p.unavailable = int(cluster.Scaled(rolling["maxUnavailable"], int64(desired), true))
	if desired > 0 && p.surge == 0 && p.unavailable == 0 {
		p.unavailable = 1
	}
	return p, desired
}

// pair is the Pods of each node: the one of the revision and the one before; ok is false if there are more.
// A Pod whose deletion has begun is neither, so a node with nothing else counts as one without Pods.
func (t *turn) pair(node string) (fresh, old *cluster.Pod, ok bool) {
	for _, p := range t.pods[node] {
		if p.Terminating {
			continue
		}
		is := &old
		if t.updated(p) {
			is = &fresh
		}
		if *is != nil {
			return nil, nil, false
		}
		*is = p
	}
	return fresh, old, true
}

// names are the nodes to run on, and those with Pods, in order.
// The order makes an update go through the nodes in the same way in each turn, and not at random.
func (t *turn) names() []string {
	all := map[string]bool{}
	for node := range t.pods {
		all[node] = true
	}
	for _, n := range t.nodes {
		if run, _ := t.fits(n); run {
			all[n.Key.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// update is what an update changes next.
func (t *turn) update(strategy tree.Tree) changes {
	p, desired := t.pace(strategy)
	if p.surge == 0 {
		return t.updateInPlace(p.unavailable)
	}
	return t.updateBeside(p.surge, desired)
}

// updateInPlace deletes old Pods: those that do not work anyway, and as many others as may be missing.
// Deleting is all that an update does in place: when the old Pod is gone, place makes the new one. Old Pods that are not
// available are deleted beyond the bound too, as nothing is lost by that and a broken revision could otherwise block the
// next one.
func (t *turn) updateInPlace(most int) (c changes) {
	unavailable := 0
	var candidates []*cluster.Pod
	for _, node := range t.names() {
		fresh, old, ok := t.pair(node)
		switch {
		case !ok || (fresh == nil) == (old == nil):
			unavailable++ // place is still at work there
		case fresh != nil:
			if !t.available(fresh) {
				unavailable++
			}
		case !t.available(old):
			c.remove = append(c.remove, old)
			unavailable++
		default:
			candidates = append(candidates, old)
		}
	}
	c.remove = append(c.remove, candidates[:max(0, min(most-unavailable, len(candidates)))]...)
	return c
}

// updateBeside makes new Pods beside old ones, and deletes an old one when its new one is available.
// An old Pod that does not work gets its new one at once, without counting as a surge, for the node is without service
// anyway. A Pod on a node that is not to run one is deleted only while enough others are available.
func (t *turn) updateBeside(most, desired int) (c changes) {
	surging, available := 0, 0
	var candidates []string
	var misplaced []*cluster.Pod
	for _, node := range t.names() {
		fresh, old, ok := t.pair(node)
		if !ok {
			surging++
			continue
		}
		if old != nil && t.available(old) || old == nil && fresh != nil && t.available(fresh) {
			available++
		}
		switch {
		case old == nil:
		case fresh != nil && t.available(fresh):
			c.remove = append(c.remove, old)
		case fresh != nil:
			surging++
		case t.runsOn(node) && t.available(old):
			candidates = append(candidates, node)
		case t.runsOn(node):
			c.create = append(c.create, node)
		case t.available(old):
			misplaced = append(misplaced, old)
		default:
			c.remove = append(c.remove, old)
		}
	}
	c.remove = append(c.remove, misplaced[:max(0, min(available-desired, len(misplaced)))]...)
	c.create = append(c.create, candidates[:max(0, min(most-surging, len(candidates)))]...)
	return c
}

// runsOn tells whether a Pod is to run on the node of a name; false if there is no such node.
func (t *turn) runsOn(node string) bool {
	i := slices.IndexFunc(t.nodes, func(n *cluster.Node) bool { return n.Key.Name == node })
	if i < 0 {
		return false
	}
	run, _ := t.fits(t.nodes[i])
	return run
}
