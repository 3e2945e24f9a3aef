package daemonset

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A pace limits how many nodes may have two Pods during an update, and how many may have no
// available Pod. Validation allows only one of the limits to be above 0.
type pace struct{ surge, unavailable int }

// pace resolves percentage limits against the number of eligible nodes, which it returns as
// desired. Unlike for Deployments, both limits are rounded up. If both are 0, unavailable becomes
// 1, because otherwise the update could not proceed.
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

// pair returns the updated Pod and the old Pod of a node, ignoring terminating Pods. It returns
// false if the node has several of either.
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

// names returns the eligible nodes and the nodes with Pods, sorted so that all turns update nodes
// in the same order.
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

func (t *turn) update(strategy tree.Tree) changes {
	p, desired := t.pace(strategy)
	if p.surge == 0 {
		return t.updateInPlace(p.unavailable)
	}
	return t.updateBeside(p.surge, desired)
}

// updateInPlace deletes old Pods, which the next reconciliation replaces. most limits the number of
// unavailable Pods. Old Pods that are already unavailable are always deleted. This does not reduce
// availability, and otherwise a broken revision would block the next update.
func (t *turn) updateInPlace(most int) (c changes) {
	unavailable := 0
	var candidates []*cluster.Pod
	for _, node := range t.names() {
		fresh, old, ok := t.pair(node)
		switch {
		case !ok || (fresh == nil) == (old == nil):
			unavailable++ // place still works on it
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

// updateBeside creates surge Pods, and deletes an old Pod when its replacement is available. A new
// Pod does not count toward the surge limit if the old Pod is unavailable. An available Pod on an
// ineligible node is deleted only while at least desired nodes have other available Pods.
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

func (t *turn) runsOn(node string) bool {
	i := slices.IndexFunc(t.nodes, func(n *cluster.Node) bool { return n.Key.Name == node })
	if i < 0 {
		return false
	}
	run, _ := t.fits(t.nodes[i])
	return run
}
