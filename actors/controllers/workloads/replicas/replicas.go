package replicas

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// burst is the maximum number of Pods created or deleted for an object in one reconciliation. The
// changes trigger another reconciliation, so that other objects are processed in between.
const burst = 500

// A Controller manages the Pods of all ReplicaSets or of all ReplicationControllers.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	sets     *reconcile.Cache[*reconcile.Item]
	recorder *reconcile.Recorder
	// tellsTerminating is set for ReplicaSets. ReplicationControllers have no terminatingReplicas.
	tellsTerminating bool
}

func NewReplicaSets(c *cluster.Cluster) *Controller {
	return newController(c, c.Items("apps", "v1", "ReplicaSet"), "replicaset", "replicaset-controller", true)
}

func NewReplicationControllers(c *cluster.Cluster) *Controller {
	return newController(c, c.Items("", "v1", "ReplicationController"), "replicationmanager", "replication-controller", false)
}

func newController(c *cluster.Cluster, sets *reconcile.Cache[*reconcile.Item], queue, reporter string, tellsTerminating bool) *Controller {
	r := &Controller{Cluster: c, sets: sets, recorder: c.Recorder(reporter), tellsTerminating: tellsTerminating}
	r.Controller = c.Workloads(queue, sets, r.reconcile, c.Pods)
	reconcile.FollowDependents(r.Controller, c.Pods, sets)
	return r
}

// reconcile processes one ReplicaSet or ReplicationController. If the object is terminating, it
// only writes the status, because the garbage collector deletes the Pods. After a failure, it
// writes the status before it returns the error.
func (r *Controller) reconcile(ctx context.Context, set *reconcile.Item, t tree.Tree) error {
	owned := r.Pods.OwnedBy(set.UID)
	pods, err := r.claim(ctx, set, owned)
	if err != nil {
		return err
	}
	o := observed{pods: pods, terminating: -1}
	if r.tellsTerminating {
		o.terminating = countTerminating(set, owned)
	}
	if !set.Terminating {
		o.failure = r.manage(ctx, set, t, pods)
	}
	o.now = r.Now()
	status, recheck := newStatus(t, o)
	if err := r.sets.UpdateStatus(ctx, t, status); err != nil {
		return errors.Join(o.failure, err)
	}
	if recheck > 0 {
		r.AddAt(set.Key, o.now.Add(recheck))
	}
	return o.failure
}

func (r *Controller) claim(ctx context.Context, set *reconcile.Item, owned []*cluster.Pod) ([]*cluster.Pod, error) {
	active := owned[:0:0]
	for _, p := range owned {
		if p.Active() {
			active = append(active, p)
		}
	}
	return reconcile.Claim(ctx, reconcile.NewClaimer(set), r.Pods, active, (*cluster.Pod).Active)
}

func countTerminating(set *reconcile.Item, owned []*cluster.Pod) (n int) {
	for _, p := range owned {
		if p.Terminating && !p.Ended() && set.Selects(p.Labels) {
			n++
		}
	}
	return n
}

// manage creates missing Pods or deletes surplus ones. The caches include its own earlier writes,
// so it does not repeat them. It ignores create failures caused by a terminating namespace.
func (r *Controller) manage(ctx context.Context, set *reconcile.Item, t tree.Tree, pods []*cluster.Pod) error {
	wanted, _ := t.Object("spec").Int("replicas")
	switch missing := int(wanted) - len(pods); {
	case missing > 0:
		pod := cluster.PodOf(set, t.Object("spec", "template"))
		return reconcile.SlowStart(min(missing, burst), func() error {
			err := r.CreatePod(ctx, r.recorder.About(set), set, pod.Copy())
			return reconcile.Except(err, reconcile.IsNamespaceTerminating)
		})
	case missing < 0:
		going := toDelete(pods, r.related(set), min(-missing, burst), r.Now())
		return reconcile.ForEachParallel(going, func(p *cluster.Pod) error { return r.DeletePod(ctx, r.recorder.About(set), p) })
	}
	return nil
}

func (r *Controller) related(set *reconcile.Item) (pods []*cluster.Pod) {
	if set.Controller == nil {
		return r.Pods.OwnedBy(set.UID)
	}
	for _, sibling := range r.sets.OwnedBy(set.Controller.UID) {
		pods = append(pods, r.Pods.OwnedBy(sibling.UID)...)
	}
	return pods
}
