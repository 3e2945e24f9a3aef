package daemonset

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// hashLabel names the revision of a Pod, by its hash.
// It is part of the API, and the same in all profiles.
const hashLabel = "controller-revision-hash"

// tolerations are what Pods of DaemonSets tolerate whatever the template says: they are for the nodes that others avoid.
// Pods with the network of the host are also for nodes whose network is not set up yet: they may be what sets it up.
func tolerations(n *meta.Naming, hostNetwork bool) []tree.Tree {
	var all []tree.Tree
	add := func(name, effect string) {
		all = append(all, tree.Tree{"key": n.Translate("node.platform.io/" + name), "operator": "Exists", "effect": effect})
	}
	add("not-ready", "NoExecute")
	add("unreachable", "NoExecute")
	for _, pressure := range []string{"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"} {
		add(pressure, "NoSchedule")
	}
	if hostNetwork {
		add("network-unavailable", "NoSchedule")
	}
	return all
}

// withTolerations adds those of DaemonSets to those of a template.
// A toleration that is already there is not added twice, so that the result does not grow if it is made of its own
// result.
func withTolerations(own []tree.Tree, more []tree.Tree) []tree.Tree {
	for _, t := range more {
		if !slices.ContainsFunc(own, func(is tree.Tree) bool { return tree.SemanticEqual(is, t) }) {
			own = append(own, t)
		}
	}
	return own
}

// A placement is where the Pods of a DaemonSet run.
// The tolerations include those that every Pod of a DaemonSet has, so that deciding where a Pod runs agrees with the Pod
// that is made.
type placement struct {
	spec        tree.Tree // of its Pods
	tolerations []tree.Tree
}

// fits tells whether a Pod is to run on a node, and whether one that does may stay.
// The two differ by taints with NoSchedule: these keep new Pods away and leave the ones that run alone. A node that the
// template does not select may not keep its Pod.
func (p placement) fits(n *cluster.Node) (run, stay bool) {
	if node := p.spec.String("nodeName"); node != "" && node != n.Key.Name || !n.Matches(p.spec) {
		return false, false
	}
	if n.Tolerated(p.tolerations, "NoSchedule", "NoExecute") {
		return true, true
	}
	return false, n.Tolerated(p.tolerations, "NoExecute")
}

// A turn is what is known of a DaemonSet when it is decided what to do.
// It is a snapshot: nodes and Pods do not change while it is decided on, and each step that has changed something takes
// a new one. Pods are filed under the node that they are meant for, so that one that is not bound yet counts for its
// node.
type turn struct {
	placement
	key      meta.Key
	nodes    []*cluster.Node
	pods     map[string][]*cluster.Pod // by the name of their node; "" for none
	hash     string
	surges   bool
	minReady time.Duration
	now      time.Time
	// retry tells whether a failed Pod on a node may be replaced now.
	retry func(node string) bool
}

// changes are the Pods to delete, and the names of the nodes to make Pods for.
// They are computed as a whole before the first call is made, and apply cuts them to the burst.
type changes struct {
	remove []*cluster.Pod
	create []string
	notes  []note
}

// A note is what is told of a Pod that has ended.
// The notes become Events when the changes are applied; deciding makes no calls.
type note struct{ kind, reason, format, pod, node string }

// byAge puts Pods with a node first, and older ones.
// The first of the order is the one that is kept where there are several, hence one that runs goes before one that
// waits.
func byAge(a, b *cluster.Pod) int {
	rank := func(p *cluster.Pod) int {
		if p.Node == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Created.Compare(b.Created), strings.Compare(a.Key.Name, b.Key.Name))
}

// updated tells whether a Pod was made of the newest revision.
func (t *turn) updated(p *cluster.Pod) bool {
	hash, _ := p.Labels.Get(hashLabel)
	return t.hash != "" && hash == t.hash
}

// available tells whether a Pod has been ready for as long as minReadySeconds asks.
func (t *turn) available(p *cluster.Pod) bool {
	is, _ := p.Available(t.minReady, t.now)
	return is
}

// place is what has to change so that each node has what it should have.
// Pods that are bound to a node which is no more are left alone: removing them is up to the garbage collection of Pods.
func (t *turn) place() (c changes) {
	known := map[string]bool{}
	for _, n := range t.nodes {
		known[n.Key.Name] = true
		t.placeOn(n, &c)
	}
	for node, pods := range t.pods {
		for _, p := range pods {
			if !known[node] && p.Node == "" && !p.Terminating { // it waits for a node that is no more
				c.remove = append(c.remove, p)
			}
		}
	}
	return c
}

// placeOn adds what has to change on one node. A new Pod is made there only when no Pod is left, even one on its way
// out, so that two never compete for ports or files of the node; an update with a surge is the exception.
func (t *turn) placeOn(n *cluster.Node, c *changes) {
	run, stay := t.fits(n)
	pods := t.pods[n.Key.Name]
	switch {
	case run && len(pods) == 0:
		c.create = append(c.create, n.Key.Name)
	case stay:
		alive := t.bury(n.Key.Name, pods, c)
		if t.surges && run && len(alive) == 0 {
			if !slices.ContainsFunc(pods, func(p *cluster.Pod) bool { return !p.Terminating && p.Ended() }) {
				c.create = append(c.create, n.Key.Name)
			}
		}
		t.thin(alive, c)
	default:
		for _, p := range pods {
			if !p.Terminating {
				c.remove = append(c.remove, p)
			}
		}
	}
}

// bury removes Pods that have ended, and returns the others that stay.
// A failed Pod is replaced only as often as the delays allow: one that fails at once on its node would otherwise be made
// and deleted without end. One that waits its turn stays where it is and keeps the node from getting another.
func (t *turn) bury(node string, pods []*cluster.Pod, c *changes) (alive []*cluster.Pod) {
	for _, p := range pods {
		switch {
		case p.Terminating:
		case p.Phase == cluster.PodFailed:
			if t.retry(node) {
				c.notes = append(c.notes, note{reconcile.Warning, "FailedDaemonPod", "Found failed daemon pod %s on node %s, will try to kill it", p.Key.Namespace + "/" + p.Key.Name, node})
				c.remove = append(c.remove, p)
			}
		case p.Phase == cluster.PodSucceeded:
			c.notes = append(c.notes, note{reconcile.Normal, "SucceededDaemonPod", "Found succeeded daemon pod %s on node %s, will try to delete it", p.Key.Namespace + "/" + p.Key.Name, node})
			c.remove = append(c.remove, p)
		default:
			alive = append(alive, p)
		}
	}
	return alive
}

// thin removes all Pods of a node but the oldest; where an update may surge, the oldest of the revision and the oldest
// of those before stay until the new one is available or the old one no longer ready.
// Pods on their way out are not among those that it is given.
func (t *turn) thin(alive []*cluster.Pod, c *changes) {
	slices.SortFunc(alive, byAge)
	var fresh, old *cluster.Pod
	for i, p := range alive {
		switch {
		case !t.surges && i == 0:
		case t.surges && t.updated(p) && fresh == nil:
			fresh = p
		case t.surges && !t.updated(p) && old == nil:
			old = p
		default:
			c.remove = append(c.remove, p)
		}
	}
	if fresh != nil && old != nil && (!old.Ready || t.available(fresh)) {
		c.remove = append(c.remove, old)
	}
}

// status counts the nodes, and how their Pods are.
// Each node counts once, by the first of its Pods in the order of byAge, so that a second Pod during a surge does not
// make the numbers exceed those of the nodes.
func (t *turn) status() tree.Tree {
	var desired, current, wrong, ready, updated, available int64
	for _, n := range t.nodes {
		run, _ := t.fits(n)
		pods := slices.SortedFunc(slices.Values(t.pods[n.Key.Name]), byAge)
		if run {
			desired++
		}
		if len(pods) == 0 {
			continue
		}
		if !run {
			wrong++
			continue
		}
		current++
		if pods[0].Ready {
			ready++
		}
		if t.available(pods[0]) {
			available++
		}
		if t.updated(pods[0]) {
			updated++
		}
	}
	return tree.Tree{
		"desiredNumberScheduled": desired, "currentNumberScheduled": current, "numberMisscheduled": wrong, "numberReady": ready,
		"updatedNumberScheduled": updated, "numberAvailable": available, "numberUnavailable": desired - available,
	}
}
