package nodes

import (
	"context"
	"errors"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// LifecycleOptions configures Lifecycle. Nodes renew their Leases about every 10 s, and Grace
// should allow for several lost renewals.
type LifecycleOptions struct {
	Period       time.Duration // between two checks
	Grace        time.Duration // how long a node may be silent
	StartupGrace time.Duration // the same for a node that has never reported
}

// Lifecycle marks silent nodes as Unknown and maintains the taints for node conditions.
//
// Each check first reads heartbeats and Leases, then marks and counts silent nodes, and finally
// taints nodes. No node is therefore tainted for eviction before the silent nodes are counted.
type Lifecycle struct {
	*reconcile.Controller[string] // queue of nodes whose taints must follow their conditions
	podStore
	nodes, leases reconcile.Client
	options       LifecycleOptions
	now           func() time.Time

	// Only the checking goroutine uses the fields below.
	known    map[string]*nodeHealth
	evicting map[string]time.Time // zone → when one of its nodes was last tainted for eviction
	allLost  bool                 // no node was ready at the last check
}

// nodeHealth is the observed health of a node. lastSign is the local time at which a new heartbeat
// or Lease renewal was noticed. Times written by nodes are only compared for equality, so wrong
// clocks do not matter.
type nodeHealth struct {
	key            meta.Key
	uid            meta.Text
	version        uint64 // of the node
	leaseVersion   uint64
	zone           string
	exempt         bool // excluded from the counts of its zone
	created        time.Time
	ready          meta.Text // status of the condition; "" if missing
	heartbeat      meta.Text // of the condition
	renewed        meta.Text // renewTime of the lease
	lastSign       time.Time
	taintsOutdated bool // taints must be compared with the conditions
	podsMarked     bool
}

func NewLifecycle(env *reconcile.Env, o LifecycleOptions) *Lifecycle {
	l := &Lifecycle{
		podStore: newPodStore(env, "node-controller"), nodes: env.Core("Node").Reporting("node-controller"), leases: env.Client("coordination.platform.io", "v1", "Lease"), options: o, now: time.Now,
		known: map[string]*nodeHealth{}, evicting: map[string]time.Time{},
	}
	l.Controller = reconcile.New(env, "", l.taintNoSchedule, "", "")
	l.Failed = func(_ string, err error) { l.report(err) }
	l.Watch(l.nodes, reconcile.Updates(func(o *meta.Object) { l.Add(o.Key.Name) }))
	l.Every(o.Period, func(ctx context.Context) {
		if err := l.look(ctx); err != nil && ctx.Err() == nil {
			l.report(err)
		}
	})
	return l
}

func (l *Lifecycle) report(err error) {
	l.Log.Warn("cannot update the health of nodes", "error", err)
}

// look checks all nodes once. After an error for one node, it continues with the next.
func (l *Lifecycle) look(ctx context.Context) error {
	nodes, err := l.nodes.List(ctx, request.List{})
	if err != nil {
		return err
	}
	if err := l.readLeases(ctx); err != nil {
		return err
	}
	seen := make(map[string]bool, len(nodes))
	var faults []error
	for _, o := range nodes {
		seen[o.Key.Name] = true
		faults = append(faults, l.note(ctx, o))
	}
	for name, h := range l.known {
		if !seen[name] {
			l.nodes.Note(&meta.Object{Key: h.key, Meta: meta.ObjectMeta{UID: h.uid.String()}}, "RemovingNode", "Removing Node "+name+" from Controller")
			delete(l.known, name)
		}
	}
	for _, h := range l.known {
		faults = append(faults, l.checkSilence(ctx, h))
	}
	l.noteDisruption()
	for _, h := range l.known {
		faults = append(faults, l.taint(ctx, h))
	}
	return errors.Join(faults...)
}

// readLeases records which nodes have renewed their Leases. It ignores nodes that are not known
// yet. Any new time counts as a renewal, because a node's clock may have been set back.
func (l *Lifecycle) readLeases(ctx context.Context) error {
	if l.leases.Kind == nil || len(l.known) == 0 {
		return nil
	}
	list, err := l.leases.List(ctx, request.List{Namespace: l.NodeLeaseNamespace()})
	if err != nil {
		return err
	}
	for _, o := range list {
		h := l.known[o.Key.Name]
		if h == nil || h.leaseVersion == o.Version {
			continue
		}
		lease, err := l.leases.Decode(o)
		if err != nil {
			return err
		}
		h.leaseVersion = o.Version
		if renewed := lease.Object("spec").String("renewTime"); renewed != h.renewed.String() {
			h.renewed, h.lastSign = meta.NewText(renewed), l.now()
		}
	}
	return nil
}

// note records a changed node. A node counts as new if its uid has changed or the controller has
// just started. A new node with a Ready condition gets the full grace period.
func (l *Lifecycle) note(ctx context.Context, o *meta.Object) error {
	h := l.known[o.Key.Name]
	if h != nil && h.version == o.Version {
		return nil
	}
	node, err := l.nodes.Decode(o)
	if err != nil {
		return err
	}
	if h == nil || h.uid.String() != o.Meta.UID {
		h = &nodeHealth{key: o.Key, uid: meta.NewText(o.Meta.UID)}
		h.created = reconcile.Time(node.Object("metadata"), "creationTimestamp")
		h.lastSign = h.created
		l.known[h.key.Name] = h
		l.nodes.Note(o, "RegisteredNode", "Registered Node "+o.Key.Name+" in Controller")
	}
	h.version, h.taintsOutdated = o.Version, true
	region, _ := o.Meta.Labels.Get(l.Translate("topology.platform.io/region"))
	zone, _ := o.Meta.Labels.Get(l.Translate("topology.platform.io/zone"))
	h.zone = region + ":" + zone
	_, h.exempt = o.Meta.Labels.Get(l.Translate(taintDomain + "exclude-disruption"))
	ready := tree.FindCondition(node.Object("status"), "Ready")
	if heartbeat := ready.String("lastHeartbeatTime"); ready != nil && (h.ready.String() == "" || heartbeat != h.heartbeat.String()) {
		h.heartbeat, h.lastSign = meta.NewText(heartbeat), l.now()
	}
	h.ready = meta.NewText(ready.String("status"))
	return nil
}

// checkSilence marks a silent node as Unknown and its Pods as not ready. A node without a Ready
// condition has never reported and gets StartupGrace. Pods are marked only if the node was ready
// before, or if an earlier attempt to mark them has failed.
func (l *Lifecycle) checkSilence(ctx context.Context, h *nodeHealth) error {
	if !l.isSilent(h) {
		h.podsMarked = false
		return nil
	}
	if h.ready.String() == "Unknown" {
		if h.podsMarked {
			return nil
		}
		return l.markPods(ctx, h)
	}
	wasReady := h.ready.String() == "True"
	o, node, err := l.nodes.Read(ctx, h.key)
	if err != nil || o == nil || o.Version != h.version {
		return err // retried at the next check
	}
	conditions := unknownConditions(node, l.now())
	if err := l.nodes.PatchStatus(ctx, o, tree.Tree{"conditions": conditions}); err != nil {
		return reconcile.Except(err, reconcile.IsConflict)
	}
	h.ready, h.taintsOutdated = meta.NewText("Unknown"), true
	if !wasReady {
		h.podsMarked = true
		return nil
	}
	l.nodes.Note(o, "NodeNotReady", "Node "+h.key.Name+" status is now: NodeNotReady")
	return l.markPods(ctx, h)
}

func (l *Lifecycle) isSilent(h *nodeHealth) bool {
	grace := l.options.Grace
	if h.ready.String() == "" {
		grace = l.options.StartupGrace
	}
	return l.now().After(h.lastSign.Add(grace))
}

// unknownConditions returns a copy of a node's conditions in which every status is Unknown.
// Conditions that were already Unknown keep their transition time.
func unknownConditions(node tree.Tree, now time.Time) []any {
	at := reconcile.Stamp(now)
	status := node.Object("status").Copy()
	for _, kind := range []string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		c := tree.FindCondition(status, kind)
		switch {
		case c == nil:
			status["conditions"] = append(status.List("conditions"), tree.Tree{
				"type": kind, "status": "Unknown", "reason": "NodeStatusNeverUpdated", "message": "Kubelet never posted node status.",
				"lastHeartbeatTime": node.Object("metadata")["creationTimestamp"], "lastTransitionTime": at,
			})
		case c.String("status") != "Unknown":
			c["status"], c["reason"], c["message"], c["lastTransitionTime"] = "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.", at
		}
	}
	return status.List("conditions")
}

// markPods marks the Pods on a node as not ready, so that Services stop routing to them long before
// they are evicted. After an error, podsMarked stays false for a retry.
func (l *Lifecycle) markPods(ctx context.Context, h *nodeHealth) error {
	pods, err := l.on(ctx, h.key.Name)
	if err != nil {
		return err
	}
	err = reconcile.ForEachParallel(pods, func(p *meta.Object) error {
		changed := false
		err := l.changeStatus(ctx, p.Key, p.Meta.UID, func(status tree.Tree) bool {
			ready := tree.FindCondition(status, "Ready")
			if ready == nil || ready.String("status") == "False" {
				return false
			}
			ready["status"], ready["lastTransitionTime"] = "False", reconcile.Stamp(l.now())
			changed = true
			return true
		})
		if err == nil && changed {
			l.pods.Warn(p, "NodeNotReady", "Node is not ready")
		}
		return err
	})
	h.podsMarked = err == nil
	return err
}
