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

// hashLabel is the label with the revision hash of a Pod. It is the same in all naming profiles.
const hashLabel = "controller-revision-hash"

// tolerations returns the tolerations that all DaemonSet Pods get. Host-network Pods also tolerate
// nodes without a network, because these Pods may set up the network.
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

func withTolerations(own []tree.Tree, more []tree.Tree) []tree.Tree {
	for _, t := range more {
		if !slices.ContainsFunc(own, func(is tree.Tree) bool { return tree.SemanticEqual(is, t) }) {
			own = append(own, t)
		}
	}
	return own
}

// A placement determines where the Pods of a DaemonSet run. tolerations includes those that all
// DaemonSet Pods get.
type placement struct {
	spec        tree.Tree // of the Pods
	tolerations []tree.Tree
}

func (p placement) fits(n *cluster.Node) (run, stay bool) {
	if node := p.spec.String("nodeName"); node != "" && node != n.Key.Name || !n.Matches(p.spec) {
		return false, false
	}
	if n.Tolerated(p.tolerations, "NoSchedule", "NoExecute") {
		return true, true
	}
	return false, n.Tolerated(p.tolerations, "NoExecute")
}

// A turn is a snapshot of a DaemonSet with its nodes and Pods. Each step that makes changes takes a
// new snapshot. Pods are indexed by target node, so that unbound Pods also count.
type turn struct {
	placement
	key      meta.Key
	nodes    []*cluster.Node
	pods     map[string][]*cluster.Pod // by target node; "" for none
	hash     string
	surges   bool
	minReady time.Duration
	now      time.Time
	// retry reports whether a node's failed Pod may be replaced.
	retry func(node string) bool
}

// changes lists the Pods to delete and the nodes to create Pods for. apply limits them to burst.
type changes struct {
	remove []*cluster.Pod
	create []string
	notes  []note
}

type note struct{ kind, reason, format, pod, node string }

func byAge(a, b *cluster.Pod) int {
	rank := func(p *cluster.Pod) int {
		if p.Node == "" {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), a.Created.Compare(b.Created), strings.Compare(a.Key.Name, b.Key.Name))
}

func (t *turn) updated(p *cluster.Pod) bool {
	hash, _ := p.Labels.Get(hashLabel)
	return t.hash != "" && hash == t.hash
}

func (t *turn) available(p *cluster.Pod) bool {
	is, _ := p.Available(t.minReady, t.now)
	return is
}

// place returns the changes after which each eligible node has one Pod. The Pod garbage collector
// handles Pods bound to deleted nodes.
func (t *turn) place() (c changes) {
	known := map[string]bool{}
	for _, n := range t.nodes {
		known[n.Key.Name] = true
		t.placeOn(n, &c)
	}
	for node, pods := range t.pods {
		for _, p := range pods {
			if !known[node] && p.Node == "" && !p.Terminating { // its target node does not exist
				c.remove = append(c.remove, p)
			}
		}
	}
	return c
}

// placeOn adds the changes for one node. Except for surge updates, it creates no Pod while the node
// still has an older Pod, even a terminating one, because two Pods could compete for ports or
// files.
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

// bury removes terminated Pods and returns the remaining ones. A failed Pod is replaced after a
// delay, because the new Pod may also fail. Until then, it occupies its node.
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

// thin removes surplus Pods of a node and keeps the oldest, preferring bound Pods. With maxSurge,
// it keeps one updated and one old Pod, until the updated Pod is available or the old one is
// unready. alive must contain no terminating Pods.
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

// status returns the DaemonSet's status. Only a node's first Pod in byAge order counts, even during
// a surge.
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
