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

// Rate limits for tainting the nodes of a zone for eviction, and the definition of an unhealthy
// zone.
const (
	evictionInterval     = 10 * time.Second
	slowEvictionInterval = 100 * time.Second // in a large unhealthy zone; small ones have no evictions
	largeZone            = 50
	unhealthyNodes       = 2    // more silent nodes than this,
	unhealthyShare       = 0.55 // and this share of a zone, make it unhealthy
)

// noteDisruption determines whether any node is ready. If no node is ready, the server's own
// network may have failed, so executeTaint evicts no Pods. When a node becomes ready again, all
// nodes get a new grace period. Both transitions require new taints on all nodes.
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
		if allLost {
			l.Log.Warn("no node is ready: suspending evictions")
		} else {
			l.Log.Info("a node is ready: resuming evictions")
		}
		for _, h := range l.known {
			if h.taintsOutdated = true; !allLost {
				h.lastSign = l.now()
			}
		}
	}
	l.allLost = allLost
}

// interval returns the minimum time between two evictions in a zone, or 0 if no eviction is
// allowed.
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

// zoneInterval returns a zone's eviction interval, given its total and silent nodes. If all nodes
// are silent, the zone has failed, and its Pods are evicted at the normal rate. If most nodes are
// silent, evictions slow down or stop. executeTaint evicts no Pods if all zones are silent.
func zoneInterval(nodes, lost int) time.Duration {
	switch {
	case lost == nodes || lost <= unhealthyNodes || float64(lost)/float64(nodes) < unhealthyShare:
		return evictionInterval
	case nodes > largeZone:
		return slowEvictionInterval
	}
	return 0
}

// Keys of the taints for nodes that are not ready.
const (
	notReady    = taintDomain + "not-ready"
	unreachable = taintDomain + "unreachable"
)

// conditionTaints are the NoSchedule taints for node conditions. They evict no Pods and are not
// rate-limited.
var conditionTaints = []struct{ kind, status, key string }{
	{"Ready", "False", notReady}, {"Ready", "Unknown", unreachable}, {"MemoryPressure", "True", taintDomain + "memory-pressure"},
	{"DiskPressure", "True", taintDomain + "disk-pressure"}, {"NetworkUnavailable", "True", taintDomain + "network-unavailable"},
	{"PIDPressure", "True", taintDomain + "pid-pressure"},
}

const unschedulable = taintDomain + "unschedulable"

// taint updates a node's taints. The rate limit applies only to a node's first NoExecute taint,
// because a change between not-ready and unreachable evicts no Pods. If the node must wait for this
// taint, taint updates the others immediately, and the next check processes the node again. The
// same applies to an Unknown node in a new grace period, and after a conflict.
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

// taintNoSchedule updates the taints that do not evict Pods. It does not retry a conflict, because
// the newer version of the node triggers another update.
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

func (l *Lifecycle) updateTaints(ctx context.Context, o *meta.Object, node tree.Tree, execute string) error {
	taints, changed := l.newTaints(node, execute)
	if !changed {
		return nil
	}
	return l.nodes.Patch(ctx, o, "", tree.Tree{"spec": tree.Tree{"taints": taints}})
}

// executeTaint returns the key of the NoExecute taint that a node should have, or "". taint applies
// the rate limits.
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

// newTaints returns a node's desired taints. It keeps other clients' taints and the times of
// existing taints.
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

func sortedTaints(wanted map[[2]string]bool) [][2]string {
	return slices.SortedFunc(maps.Keys(wanted), func(a, b [2]string) int {
		return cmp.Or(strings.Compare(a[0], b[0]), strings.Compare(a[1], b[1]))
	})
}
