package replicas

import (
	"context"
	"errors"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// burst is how many Pods a set creates or deletes in one turn.
// The rest follows in later turns, which the changes of the Pods bring about; other sets get their turn in between.
const burst = 500

// A Controller keeps the Pods of all sets of one kind.
// ReplicaSets and ReplicationControllers each have one of their own, with a queue, workers and a name in Events.
type Controller struct {
	*reconcile.Controller[meta.Key]
	*cluster.Cluster
	sets     *reconcile.Cache[*reconcile.Item]
	recorder *reconcile.Recorder
	// tellsTerminating: the status says how many Pods are on their way out.
	tellsTerminating bool
}

// NewReplicaSets makes the controller of ReplicaSets.
func NewReplicaSets(c *cluster.Cluster) *Controller {
	return newController(c, c.Items("apps", "v1", "ReplicaSet"), "replicaset", "replicaset-controller", true)
}

// NewReplicationControllers makes the controller of ReplicationControllers.
func NewReplicationControllers(c *cluster.Cluster) *Controller {
	return newController(c, c.Items("", "v1", "ReplicationController"), "replicationmanager", "replication-controller", false)
}

// newController makes the controller of a kind. queue is the name in metrics, reporter the one in Events.
func newController(c *cluster.Cluster, sets *reconcile.Cache[*reconcile.Item], queue, reporter string, tellsTerminating bool) *Controller {
	r := &Controller{Cluster: c, sets: sets, recorder: c.Recorder(reporter), tellsTerminating: tellsTerminating}
	r.Controller = c.Workloads(queue, sets, r.reconcile, c.Pods)
	reconcile.FollowDependents(r.Controller, c.Pods, sets)
	return r
}

// reconcile brings one set to what it asks for.
// A set that is being deleted only gets its status: its Pods belong to garbage collection, and making new ones would
// work against it. The failure is returned after the status that tells of it was written, so that the turn is taken
// again.
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

// claim are the active Pods of a set, after it has adopted and released what it should.
// Pods that have ended or are on their way out are left as they are: they count for nothing, and releasing them would
// only take away who is responsible for them.
func (r *Controller) claim(ctx context.Context, set *reconcile.Item, owned []*cluster.Pod) ([]*cluster.Pod, error) {
	active := owned[:0:0]
	for _, p := range owned {
		if p.Active() {
			active = append(active, p)
		}
	}
	return reconcile.Claim(ctx, reconcile.NewClaimer(set), r.Pods, active, (*cluster.Pod).Active)
}

// countTerminating is the number of Pods of a set that are on their way out and still run.
func countTerminating(set *reconcile.Item, owned []*cluster.Pod) (n int) {
	for _, p := range owned {
		if p.Terminating && !p.Ended() && set.Selects(p.Labels) {
			n++
		}
	}
	return n
}

// manage creates what is missing, or deletes what is too much.
// The caches have what this process wrote before, so that the difference is never one that an earlier turn has made up
// for already. A namespace that is being deleted is no failure: nothing can be made in it any more.
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

// related are the Pods of all sets that have the same controller: those of one Deployment.
func (r *Controller) related(set *reconcile.Item) (pods []*cluster.Pod) {
	if set.Controller == nil {
		return r.Pods.OwnedBy(set.UID)
	}
	for _, sibling := range r.sets.OwnedBy(set.Controller.UID) {
		pods = append(pods, r.Pods.OwnedBy(sibling.UID)...)
	}
	return pods
}
