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

// burst is how many Pods a DaemonSet creates, and how many it deletes, in one turn.
// It bounds a turn in a large cluster; the Pods that were made or deleted bring the next turn by their change.
const burst = 250

// A Controller keeps the Pods of DaemonSets.
// failures is the only state that is not in the cluster.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	sets     *reconcile.Cache[*reconcile.Item]
	history  *history.History
	recorder *reconcile.Recorder
	failures failures
}

// New makes the controller of DaemonSets.
func New(c *cluster.Cluster) *Controller {
	d := &Controller{
		Cluster: c, sets: c.Items("apps", "v1", "DaemonSet"), history: history.New(c, hashLabel), recorder: c.Recorder("daemonset-controller"),
		failures: failures{all: map[failureKey]failure{}},
	}
	d.Controller = c.Workloads("daemonset", d.sets, d.reconcile, d.history.Cache(), c.Pods, c.Nodes)
	reconcile.FollowDependents(d.Controller, c.Pods, d.sets)
	// Nodes change often, as their status is written again and again; only labels and taints matter here, and all
	// DaemonSets would be looked at in vain for everything else.
	c.Nodes.Subscribe(func(old, now *cluster.Node) {
		if old == nil || now == nil || !old.SamePlacement(now) {
			for _, set := range d.sets.All() {
				d.Add(set.Key)
			}
		}
	})
	return d
}

// reconcile takes one turn of one DaemonSet.
// A turn reads the Pods again before the status is counted, so that the status tells of the Pods after the changes and
// not before. A failure to change Pods does not keep the status from being written.
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
	current, err := d.history.Current(ctx, item, object.Object("metadata", "annotations"), spec.Object("template"), revisions, &collisions)
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

// writeStatus writes the status if it says anything new, and comes back when a Pod becomes available.
// The last is by time alone, as no change of an object tells when minReadySeconds are over. Conditions that somebody
// else has set are kept.
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

// act changes the Pods: first it places them, then it updates them.
// What is updated is decided on Pods as they are after placing. Were both decided at once, a node might get two Pods, or
// an update might exceed what may be unavailable.
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

// turn is what is known of a DaemonSet now, after it has adopted and released what it should.
// Nodes and Pods are taken from the caches, which have this controller's own writes already.
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

// recheck is after how long the first Pod becomes available that is ready but not yet.
// It is at most minReadySeconds, so that the controller comes back even if a Pod does not tell since when it is ready.
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

// apply makes the changes, up to the burst of each kind. Creates come in growing batches, as they may all fail for one
// reason such as a quota; deletes do not share such a reason and are done at once. A namespace that is being deleted is
// no failure, as trying again cannot help.
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

// podFor is the Pod for a node.
// The affinity replaces the terms of the template instead of adding to them: terms are alternatives, so another one
// beside it would let the Pod run elsewhere. Whether the node matches the terms of the template was checked before.
func podFor(n *meta.Naming, item *reconcile.Item, template tree.Tree, hash, node string) tree.Tree {
	pod := cluster.PodOf(item, template)
	pod.EnsureObject("metadata", "labels")[hashLabel] = hash
	spec := pod.EnsureObject("spec")
	spec["tolerations"] = tree.ListOf(withTolerations(spec.Objects("tolerations"), tolerations(n, spec.Bool("hostNetwork"))))
	required := spec.EnsureObject("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
	required["nodeSelectorTerms"] = []any{tree.Tree{"matchFields": []any{tree.Tree{"key": "metadata.name", "operator": "In", "values": []any{node}}}}}
	return pod
}

// truncate deletes revisions that no Pod has, beyond the limit.
// Revisions in use are never deleted, even if there are more of them than the limit.
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
