package nodes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// How fast the nodes of a zone are tainted so that their Pods go, and which zones are in trouble themselves.
const (
	evictionInterval     = 10 * time.Second
	slowEvictionInterval = 100 * time.Second // in a large zone most of whose nodes are silent; in a small one none are
	largeZone            = 50
	unhealthyNodes       = 2    // more silent nodes than this,
	unhealthyShare       = 0.55 // and this share of a zone, are trouble of the zone
)

// noteDisruption finds out whether any node reports. When none has, and one does again, all get their time anew: it was
// this side that could not hear them.
//
// While none reports, executeTaint evicts nobody: a failure of the network near this process looks the same as the
// loss of all nodes. Either change has the taints of all nodes looked at again.
func (l *Lifecycle) noteDisruption() {
	lost, counted := 0, 0
	for _, h := range l.known {
		if h.exempt {
			continue
		}
		counted++
		if h.ready.String() != "True" {
			lost++
		}
	}
	allLost := counted > 0 && lost == counted
	if allLost != l.allLost {
		l.Log.Info("whether any node is ready has changed", "none", allLost)
		for _, h := range l.known {
			if h.taintsOutdated = true; !allLost {
				h.lastSign = l.now()
			}
		}
	}
	l.allLost = allLost
}

// interval is how long a zone waits between two nodes whose Pods go; 0 if none may.
func (l *Lifecycle) interval(zone string) time.Duration {
	lost, counted := 0, 0
	for _, h := range l.known {
		if h.exempt || h.zone != zone {
			continue
		}
		counted++
		if h.ready.String() != "True" {
			lost++
		}
	}
	return zoneInterval(counted, lost)
}

// zoneInterval is interval for a zone of so many nodes.
//
// A zone that is silent as a whole is treated as usual: it has failed, and its Pods are wanted elsewhere. One in
// which most, but not all, are silent more likely suffers from something that moving Pods would make worse. That all
// zones are silent is dealt with by executeTaint.
func zoneInterval(nodes, lost int) time.Duration {
	switch {
	case lost == nodes || lost <= unhealthyNodes || float64(lost)/float64(nodes) < unhealthyShare:
		return evictionInterval
	case nodes > largeZone:
		return slowEvictionInterval
	}
	return 0
}

// The taints by which nodes tell that they are not ready.
const (
	notReady    = taintDomain + "not-ready"
	unreachable = taintDomain + "unreachable"
)

// conditionTaints are the taints of the conditions of a node: type, status, key.
// These have the effect NoSchedule, are not limited in rate, and evict nobody.
var conditionTaints = []struct{ kind, status, key string }{
	{"Ready", "False", notReady}, {"Ready", "Unknown", unreachable}, {"MemoryPressure", "True", taintDomain + "memory-pressure"},
	{"DiskPressure", "True", taintDomain + "disk-pressure"}, {"NetworkUnavailable", "True", taintDomain + "network-unavailable"},
	{"PIDPressure", "True", taintDomain + "pid-pressure"},
}

// unschedulable is the taint of nodes that an administrator has closed.
const unschedulable = taintDomain + "unschedulable"

// taint brings the taints of a node up to date.
//
// Only the first NoExecute taint of a node counts for the rate: a change between not-ready and unreachable evicts
// nobody anew. A node that has to wait for its zone gets its other taints now and stays outdated, so that each look
// tries again. So do one whose state is unknown and that has been given its time anew, and one whose write met a conflict.
func (l *Lifecycle) taint(ctx context.Context, h *nodeHealth) error {
	if !h.taintsOutdated {
		return nil
	}
	o, node, err := l.nodes.Read(ctx, h.key)
	if err != nil || o == nil {
		return err
	}
	execute := l.executeTaint(h)
	evicts := execute != "" && !hasTaint(node, l.Translate(notReady), "NoExecute") && !hasTaint(node, l.Translate(unreachable), "NoExecute")
	waits := false
	if evicts {
		interval := l.interval(h.zone)
		if interval == 0 || l.now().Sub(l.evicting[h.zone]) < interval || h.ready.String() == "Unknown" && !l.isSilent(h) {
			execute, evicts, waits = "", false, true
		}
	}
	if err := l.updateTaints(ctx, o, node, execute); err != nil {
		return reconcile.Except(err, reconcile.IsConflict)
	}
	if evicts {
		l.evicting[h.zone] = l.now()
	}
	h.taintsOutdated = waits
	return nil
}

// taintNoSchedule updates the taints of a node except those that evict Pods. A conflict needs no retry, as the newer
// state is a change of its own.
func (l *Lifecycle) taintNoSchedule(ctx context.Context, name string) error {
	o, node, err := l.nodes.ReadNamed(ctx, "", name)
	if err != nil || o == nil {
		return err
	}
	execute := ""
	for _, taint := range []string{notReady, unreachable} {
		if hasTaint(node, l.Translate(taint), "NoExecute") {
			execute = taint
		}
	}
	return reconcile.Except(l.updateTaints(ctx, o, node, execute), reconcile.IsConflict)
}

// updateTaints writes the taints of a node if they differ from newTaints.
func (l *Lifecycle) updateTaints(ctx context.Context, o *meta.Object, node tree.Tree, execute string) error {
	taints, changed := l.newTaints(node, execute)
	if !changed {
		return nil
	}
	return l.nodes.Patch(ctx, o, "", tree.Tree{"spec": tree.Tree{"taints": taints}})
}

// executeTaint is the taint by which the Pods of a node go; "" if they stay.
// It is the same taint whether or not the zone may be evicted now; taint decides on that.
func (l *Lifecycle) executeTaint(h *nodeHealth) string {
	switch {
	case l.allLost:
		return ""
	case h.ready.String() == "False":
		return notReady
	case h.ready.String() == "Unknown":
		return unreachable
	}
	return ""
}

// newTaints are the taints that a node is to have: those of others stay, those of its state are made anew. The time of one
// that stays, stays.
func (l *Lifecycle) newTaints(node tree.Tree, execute string) (taints []any, changed bool) {
	wanted := map[[2]string]bool{}
	if execute != "" {
		wanted[[2]string{l.Translate(execute), "NoExecute"}] = true
	}
	if node.Object("spec").Bool("unschedulable") {
		wanted[[2]string{l.Translate(unschedulable), "NoSchedule"}] = true
	}
	own := map[[2]string]bool{{l.Translate(unschedulable), "NoSchedule"}: true}
	for _, c := range conditionTaints {
		at := [2]string{l.Translate(c.key), "NoSchedule"}
		own[at] = true
		for _, has := range node.Object("status").Objects("conditions") {
			if has.String("type") == c.kind && has.String("status") == c.status {
				wanted[at] = true
			}
		}
	}
	for _, key := range []string{notReady, unreachable} {
		own[[2]string{l.Translate(key), "NoExecute"}] = true
	}
	taints = []any{}
	for _, t := range node.Object("spec").Objects("taints") {
		at := [2]string{t.String("key"), t.String("effect")}
		if own[at] && !wanted[at] {
			changed = true
			continue
		}
		delete(wanted, at)
		taints = append(taints, t)
	}
	for _, key := range sortedTaints(wanted) {
		taints = append(taints, tree.Tree{"key": key[0], "effect": key[1], "timeAdded": reconcile.Stamp(l.now())})
		changed = true
	}
	return taints, changed
}

// sortedTaints are keys and effects in order.
// The order of a map is random, and taints are not to depend on it.
func sortedTaints(wanted map[[2]string]bool) [][2]string {
	return slices.SortedFunc(maps.Keys(wanted), func(a, b [2]string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
	})
}
