package daemonset

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/history"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// burst is the maximum number of Pods created, and of Pods deleted, for a DaemonSet in one
// reconciliation. These changes trigger the next reconciliation.
const burst = 250

// A Controller manages the Pods of DaemonSets. Besides the shared caches, it keeps only the backoff
// for failed Pods in memory.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	sets     *reconcile.Cache[*reconcile.Item]
	history  *history.History
	recorder *reconcile.Recorder
	failures failures
}

func New(c *cluster.Cluster) *Controller {
	d := &Controller{
		Cluster: c, sets: c.Items("apps", "v1", "DaemonSet"), history: history.New(c, hashLabel), recorder: c.Recorder("daemonset-controller"),
		failures: failures{all: map[failureKey]failure{}},
	}
	d.Controller = c.Workloads("daemonset", d.sets, d.reconcile, d.history.Cache(), c.Pods, c.Nodes)
	reconcile.FollowDependents(d.Controller, c.Pods, d.sets)
	// A node's status changes often, but only its labels and taints matter.
	reconcile.On(d.Controller, c.Nodes, func(old, now *cluster.Node) {
		if old == nil || now == nil || !old.SamePlacement(now) {
			for _, set := range d.sets.All() {
				d.Add(set.Key)
			}
		}
	})
	return d
}

// reconcile processes one DaemonSet. It reads the Pods again after it has changed them, and writes
// the status even if a change failed.
func (d *Controller) reconcile(ctx context.Context, item *reconcile.Item, object tree.Tree) error {
	if item.Terminating {
		return nil
	}
	spec := object.Object("spec")
	if selects := spec.Object("selector"); len(selects.Object("matchLabels")) == 0 && len(selects.List("matchExpressions")) == 0 {
		d.recorder.About(item).Warn("SelectingAll", "This daemon set is selecting all pods. A non-empty selector is required.")
		return nil
	}
	revisions, err := d.history.List(ctx, item)
	if err != nil {
		return err
	}
	collisions, _ := object.Object("status").Int("collisionCount")
	current, err := d.history.Current(ctx, item, object.Annotations(), spec.Object("template"), revisions, &collisions)
	if err != nil {
		return err
	}
	fault := d.act(ctx, item, spec, current.Hash)
	t, err := d.turn(ctx, item, spec, current.Hash)
	if err != nil {
		return errors.Join(fault, err)
	}
	if err := d.writeStatus(ctx, object, t, collisions); err != nil {
		return errors.Join(fault, err)
	}
	return errors.Join(fault, d.truncate(ctx, spec, revisions, current, t))
}

// writeStatus updates the status if it has changed, and keeps conditions set by other clients. If a
// ready Pod is not yet available, it requeues the DaemonSet, because no event occurs when the Pod
// becomes available.
func (d *Controller) writeStatus(ctx context.Context, object tree.Tree, t *turn, collisions int64) error {
	now, old := t.status(), object.Object("status")
	if old.Has("collisionCount") || collisions > 0 {
		now["collisionCount"] = collisions
	}
	now["observedGeneration"], _ = object.Object("metadata").Int("generation")
	if conditions := old.List("conditions"); len(conditions) > 0 {
		now["conditions"] = conditions
	}
	if err := d.sets.UpdateStatus(ctx, object, now); err != nil {
		return err
	}
	if t.minReady > 0 && now["numberReady"] != now["numberAvailable"] {
		d.AddAfter(t.key, t.recheck())
	}
	return nil
}

// act first ensures one Pod per eligible node, and then updates old Pods. In the opposite order, a
// node could get two Pods, or the update could exceed maxUnavailable.
func (d *Controller) act(ctx context.Context, item *reconcile.Item, spec tree.Tree, hash string) error {
	t, err := d.turn(ctx, item, spec, hash)
	if err != nil {
		return err
	}
	if err := d.apply(ctx, item, spec, hash, t.place()); err != nil {
		return err
	}
	strategy := spec.Object("updateStrategy")
	if strategy.String("type") != "RollingUpdate" {
		return nil
	}
	if t, err = d.turn(ctx, item, spec, hash); err != nil {
		return err
	}
	return d.apply(ctx, item, spec, hash, t.update(strategy))
}

// turn claims the Pods of a DaemonSet and returns a snapshot of its Pods and all nodes. The
// snapshot comes from the caches, which already include this controller's own writes.
func (d *Controller) turn(ctx context.Context, item *reconcile.Item, spec tree.Tree, hash string) (*turn, error) {
	pods, err := reconcile.ClaimAll(ctx, reconcile.NewClaimer(item), d.Pods)
	if err != nil {
		return nil, err
	}
	pod := spec.Object("template", "spec")
	seconds, _ := spec.Int("minReadySeconds")
	t := &turn{
		key:       item.Key,
		placement: placement{pod, withTolerations(pod.Objects("tolerations"), tolerations(d.Cluster.Naming, pod.Bool("hostNetwork")))},
		nodes:     d.Nodes.All(), pods: map[string][]*cluster.Pod{}, hash: hash, minReady: time.Duration(seconds) * time.Second, now: d.Now(),
	}
	strategy := spec.Object("updateStrategy")
	t.surges = strategy.String("type") == "RollingUpdate" && cluster.Scaled(strategy.Object("rollingUpdate")["maxSurge"], 1, true) > 0
	for _, p := range pods {
		t.pods[p.Target] = append(t.pods[p.Target], p)
	}
	t.retry = func(node string) bool {
		wait := d.failures.try(failureKey{item.UID, node}, t.now)
		if wait > 0 {
			d.AddAfter(item.Key, wait)
		}
		return wait == 0
	}
	return t, nil
}

// recheck returns the time until the next ready Pod becomes available, at most minReadySeconds.
func (t *turn) recheck() time.Duration {
	first := t.minReady
	for _, pods := range t.pods {
		for _, p := range pods {
			if _, wait := p.Available(t.minReady, t.now); wait > 0 {
				first = min(first, wait)
			}
		}
	}
	return first
}

// apply creates and deletes Pods, at most burst of each. Creates are sent in growing batches,
// because all may fail for the same reason, such as a quota. apply ignores create failures caused
// by a terminating namespace.
func (d *Controller) apply(ctx context.Context, item *reconcile.Item, spec tree.Tree, hash string, c changes) error {
	for _, n := range c.notes {
		d.recorder.Event(item, n.kind, n.reason, n.format, n.pod, n.node)
	}
	var mu sync.Mutex
	next := 0
	nodes := c.create[:min(len(c.create), burst)]
	create := reconcile.SlowStart(len(nodes), func() error {
		mu.Lock()
		node := nodes[next]
		next++
		mu.Unlock()
		pod := podFor(d.Cluster.Naming, item, spec.Object("template"), hash, node)
		return reconcile.Except(d.CreatePod(ctx, d.recorder.About(item), item, pod), reconcile.IsNamespaceTerminating)
	})
	remove := reconcile.ForEachParallel(c.remove[:min(len(c.remove), burst)], func(p *cluster.Pod) error { return d.DeletePod(ctx, d.recorder.About(item), p) })
	return errors.Join(create, remove)
}

// podFor returns the Pod for a node. Its node affinity has a single term, which selects this node.
// It replaces the template's terms, which have already been checked. Terms are ORed, so keeping
// them would allow other nodes.
func podFor(n *meta.Naming, item *reconcile.Item, template tree.Tree, hash, node string) tree.Tree {
	pod := cluster.PodOf(item, template)
	pod.EnsureObject("metadata", "labels")[hashLabel] = hash
	spec := pod.EnsureObject("spec")
	spec["tolerations"] = tree.ListOf(withTolerations(spec.Objects("tolerations"), tolerations(n, spec.Bool("hostNetwork"))))
	required := spec.EnsureObject("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	required["nodeSelectorTerms"] = []any{tree.Tree{"matchFields": []any{tree.Tree{"key": "metadata.name", "operator": "In", "values": []any{node}}}}}
	return pod
}

func (d *Controller) truncate(ctx context.Context, spec tree.Tree, all []*history.Revision, current *history.Revision, t *turn) error {
	limit, ok := spec.Int("revisionHistoryLimit")
	if !ok {
		return nil
	}
	used := map[string]bool{current.Hash: true}
	for _, pods := range t.pods {
		for _, p := range pods {
			hash, _ := p.Labels.Get(hashLabel)
			used[hash] = true
		}
	}
	return d.history.Truncate(ctx, all, limit, func(r *history.Revision) bool { return used[r.Hash] || r.UID == current.UID })
}
