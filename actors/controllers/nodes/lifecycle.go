package nodes

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// LifecycleOptions say how long nodes may be silent.
// Nodes usually renew their leases about every 10 s; Grace should allow for several lost renewals.
type LifecycleOptions struct {
	Period       time.Duration // between two looks
	Grace        time.Duration // how long a node may be silent
	StartupGrace time.Duration // how long a new one may be
}

// Lifecycle says of silent nodes that their state is unknown, and keeps the taints that tell how nodes are.
//
// A look has an order: signs of life are read first, then silent nodes are marked, then it is counted how many are
// silent, and only then are nodes tainted. So no node is tainted for eviction before it is known how many others are
// silent too.
type Lifecycle struct {
	podStore
	nodes, leases *schema.Kind // leases is nil if they are not served
	options       LifecycleOptions
	naming        *meta.Naming
	now           func() time.Time
	events        *reconcile.EventRecorder
	logger        *slog.Logger

	mu      sync.Mutex // guards changed
	changed map[meta.Key]bool
	wake    chan struct{} // holds a token while changed has nodes

	// The fields below belong to the goroutine of Run.
	known    map[string]*nodeHealth
	evicting map[string]time.Time // zone → when the last of its nodes was tainted so that its Pods go
	allLost  bool                 // no node reported when they were last looked at
}

// nodeHealth is what is known of a node.
//
// lastSign is by the clock of this process: when it noticed that the heartbeat or the lease was another one. The
// times that nodes write are only compared with each other, so that a node whose clock is wrong is not taken for
// silent.
type nodeHealth struct {
	key            meta.Key
	uid            meta.Text
	version        uint64 // of the node
	leaseVersion   uint64
	zone           string
	exempt         bool // it does not count for how many of a zone are silent
	created        time.Time
	ready          meta.Text // the status of the condition; "" if there is none
	heartbeat      meta.Text // of the condition
	renewed        meta.Text // the lease
	lastSign       time.Time
	taintsOutdated bool // they are to be compared with the state
	podsMarked     bool
}

// NewLifecycle returns the controller for the kinds of a catalogue.
func NewLifecycle(store Store, kinds *catalog.Catalog, o LifecycleOptions, logger *slog.Logger) *Lifecycle {
	n := kinds.Naming()
	return &Lifecycle{
		podStore: newPodStore(store, kinds), nodes: reconcile.CoreKind(kinds, "Node"), options: o, naming: n, now: time.Now, logger: logger,
		leases: kinds.ByGVK(meta.GroupVersionKind{Group: n.Group("coordination"), Version: "v1", Kind: "Lease"}),
		events: reconcile.NewEventRecorder(store, kinds, "node-controller"), changed: map[meta.Key]bool{}, wake: make(chan struct{}, 1),
		known: map[string]*nodeHealth{}, evicting: map[string]time.Time{},
	}
}

// Run runs the controller until the context ends. Changes of nodes update their taints at once; the rest waits for the
// next look.
func (l *Lifecycle) Run(ctx context.Context) {
	var informer sync.WaitGroup
	defer informer.Wait()
	informer.Go(func() { reconcile.RunInformer(ctx, l.store, l.nodes, reconcile.UpdateHandlerFunc(l.onNode)) })
	tick := time.NewTicker(l.options.Period)
	defer tick.Stop()
	err := l.look(ctx)
	for {
		if err != nil && ctx.Err() == nil {
			l.logger.Warn("the health of nodes cannot be kept up to date", "error", err)
		}
		select {
		case <-tick.C:
			err = l.look(ctx)
		case <-l.wake:
			err = l.taintChanged(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// onNode queues a node whose taints may differ from its state.
func (l *Lifecycle) onNode(o *meta.Object) {
	l.mu.Lock()
	l.changed[o.Key] = true
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// taintChanged updates the NoSchedule taints of the nodes that have changed since the last call. NoExecute taints, which
// evict, are left to look: it first counts how many nodes are silent.
func (l *Lifecycle) taintChanged(ctx context.Context) error {
	l.mu.Lock()
	changed := l.changed
	l.changed = map[meta.Key]bool{}
	l.mu.Unlock()
	var faults []error
	for key := range changed {
		faults = append(faults, l.taintNoSchedule(ctx, key))
	}
	return errors.Join(faults...)
}

// look looks at all nodes once.
// A fault with one node does not keep the others from being looked at.
func (l *Lifecycle) look(ctx context.Context) error {
	nodes, err := l.store.List(ctx, request.List{Kind: l.nodes})
	if err != nil {
		return err
	}
	if err := l.readLeases(ctx); err != nil {
		return err
	}
	seen := make(map[string]bool, len(nodes.Items))
	var faults []error
	for _, o := range nodes.Items {
		seen[o.Key.Name] = true
		faults = append(faults, l.note(ctx, o))
	}
	for name, h := range l.known {
		if !seen[name] {
			l.events.Record(ctx, l.nodes, &meta.Object{Key: h.key, Meta: meta.ObjectMeta{UID: h.uid.String()}}, reconcile.Normal, "RemovingNode", "Removing Node "+name+" from Controller")
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

// readLeases notes which nodes have renewed their leases.
//
// Leases of nodes that are not known yet are skipped, and read at the next look: their version is not noted either.
// Another time counts, and not only a later one: the clock of a node may have been set back.
func (l *Lifecycle) readLeases(ctx context.Context) error {
	if l.leases == nil || len(l.known) == 0 {
		return nil
	}
	list, err := l.store.List(ctx, request.List{Kind: l.leases, Namespace: l.naming.NodeLeaseNamespace()})
	if err != nil {
		return err
	}
	for _, o := range list.Items {
		h := l.known[o.Key.Name]
		if h == nil || h.leaseVersion == o.Version {
			continue
		}
		lease, err := codec.DecodeStored(l.leases.Message(), o.JSON)
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

// note notes what a node says of itself, if that is new.
//
// A node with another uid under the same name is a new one, and so is each node after a start of this process: it
// gets the full time of grace then, if it has the condition Ready.
func (l *Lifecycle) note(ctx context.Context, o *meta.Object) error {
	h := l.known[o.Key.Name]
	if h != nil && h.version == o.Version {
		return nil
	}
	node, err := codec.DecodeStored(l.nodes.Message(), o.JSON)
	if err != nil {
		return err
	}
	if h == nil || h.uid.String() != o.Meta.UID {
		h = &nodeHealth{key: o.Key, uid: meta.NewText(o.Meta.UID)}
		h.created, _ = time.Parse(time.RFC3339, node.Object("metadata").String("creationTimestamp"))
		h.lastSign = h.created
		l.known[h.key.Name] = h
		l.events.Record(ctx, l.nodes, o, reconcile.Normal, "RegisteredNode", "Registered Node "+o.Key.Name+" in Controller")
	}
	h.version, h.taintsOutdated = o.Version, true
	region, _ := o.Meta.Labels.Get(l.naming.Translate("topology.platform.io/region"))
	zone, _ := o.Meta.Labels.Get(l.naming.Translate("topology.platform.io/zone"))
	h.zone = region + ":" + zone
	_, h.exempt = o.Meta.Labels.Get(l.naming.Translate(taintDomain + "exclude-disruption"))
	ready := condition.Find(node.Object("status"), "Ready")
	if heartbeat := ready.String("lastHeartbeatTime"); ready != nil && (h.ready.String() == "" || heartbeat != h.heartbeat.String()) {
		h.heartbeat, h.lastSign = meta.NewText(heartbeat), l.now()
	}
	h.ready = meta.NewText(ready.String("status"))
	return nil
}

// checkSilence says of a node that has been silent for too long that its state is unknown, and of its Pods that they are
// not ready.
//
// A node without the condition Ready has never reported, and gets the longer StartupGrace. The Pods of a node are
// marked only if it was ready before, or if an earlier attempt to mark them has failed.
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
	o, node, err := reconcile.Read(ctx, l.store, l.nodes, h.key)
	if err != nil || o == nil || o.Version != h.version {
		return err // it is looked at again
	}
	conditions := unknownConditions(node, l.now())
	if err := reconcile.PatchIfUnchanged(ctx, l.store, l.nodes, o, "status", tree.Tree{"status": tree.Tree{"conditions": conditions}}); err != nil {
		if reconcile.IsConflict(err) {
			return nil
		}
		return err
	}
	h.ready, h.taintsOutdated = meta.NewText("Unknown"), true
	if !wasReady {
		h.podsMarked = true
		return nil
	}
	l.events.Record(ctx, l.nodes, o, reconcile.Normal, "NodeNotReady", "Node "+h.key.Name+" status is now: NodeNotReady")
	return l.markPods(ctx, h)
}

// isSilent tells whether a node has not been heard of for longer than it may be silent.
func (l *Lifecycle) isSilent(h *nodeHealth) bool {
	grace := l.options.Grace
	if h.ready.String() == "" {
		grace = l.options.StartupGrace
	}
	return l.now().After(h.lastSign.Add(grace))
}

// unknownConditions are the conditions of a node that is silent.
// It works on a copy. A condition that is Unknown already keeps its transition time.
func unknownConditions(node tree.Tree, now time.Time) []any {
	at := now.UTC().Format(time.RFC3339)
	status := tree.Clone(node.EnsureObject("status")).(tree.Tree)
	for _, kind := range []string{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		c := condition.Find(status, kind)
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

// markPods says of the Pods on a node that they are not ready.
//
// Services then stop to send them traffic, long before they are evicted. podsMarked stays false after an error, so
// that the next look tries again.
func (l *Lifecycle) markPods(ctx context.Context, h *nodeHealth) error {
	pods, err := l.on(ctx, h.key.Name)
	if err != nil {
		return err
	}
	err = reconcile.ForEachParallel(pods, func(p *meta.Object) error {
		changed := false
		err := l.changeStatus(ctx, p.Key, p.Meta.UID, func(status tree.Tree) bool {
			ready := condition.Find(status, "Ready")
			if ready == nil || ready.String("status") == "False" {
				return false
			}
			ready["status"], ready["lastTransitionTime"] = "False", l.now().UTC().Format(time.RFC3339)
			changed = true
			return true
		})
		if err == nil && changed {
			l.events.Record(ctx, l.kind, p, reconcile.Warning, "NodeNotReady", "Node is not ready")
		}
		return err
	})
	h.podsMarked = err == nil
	return err
}
