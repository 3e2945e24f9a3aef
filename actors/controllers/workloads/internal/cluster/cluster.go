package cluster

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Cluster holds the caches and settings that all workload controllers share.
type Cluster struct {
	*reconcile.Env
	Names Names
	Now   func() time.Time

	Pods  *reconcile.Cache[*Pod]
	Nodes *reconcile.Cache[*Node]

	leader Leader
}

// Leader reports whether another process runs the same controllers, because two active processes
// would create every missing Pod twice. Holder returns that process, or "" if there is none. It
// blocks until this is known or ctx is done. changed is closed when the holder changes.
type Leader interface {
	Holder(ctx context.Context) (holder string, changed <-chan struct{})
}

// New returns a Cluster. Its writes go through admission like clients' writes. Watches start when
// controllers run.
func New(env *reconcile.Env, leader Leader) *Cluster {
	c := &Cluster{Env: env, Names: NewNames(env.Naming), Now: time.Now, leader: leader}
	pods, nodes := env.Core("Pod").As(reconcile.Manager), env.Core("Node").As(reconcile.Manager)
	c.Pods = reconcile.NewCache(pods, podView(pods, c.Names, env.Log))
	c.Nodes = reconcile.NewCache(nodes, nodeView(nodes, env.Naming, env.Log))
	return c
}

// Controller returns a controller that starts once its sources are synced. It pauses while another
// process is the leader.
func (c *Cluster) Controller(queue string, sync func(context.Context, meta.Key) error, needs ...reconcile.Source) *reconcile.Controller[meta.Key] {
	return c.LoneController(queue, func(ctx context.Context, key meta.Key) error {
		for {
			holder, changed := c.leader.Holder(ctx)
			if holder == "" {
				return sync(ctx, key)
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}, needs...)
}

// LoneController returns a controller that runs even while another process is the leader.
func (c *Cluster) LoneController(queue string, sync func(context.Context, meta.Key) error, needs ...reconcile.Source) *reconcile.Controller[meta.Key] {
	controller := reconcile.New(c.Env, queue, sync, "", "")
	controller.Failed = func(key meta.Key, err error) {
		if !reconcile.IsNamespaceTerminating(err) {
			c.Log.Info("retrying a workload", "controller", queue, "key", key.String(), "error", err)
		}
	}
	controller.From(needs...)
	return controller
}

// Untrack removes the finalizer that keeps a Pod until its Job has counted it.
func (c *Cluster) Untrack(ctx context.Context, p *Pod) error {
	return reconcile.Except(c.Pods.StrategicPatch(ctx, p.Key, p.UID, "", tree.Tree{
		"metadata": tree.Tree{"$deleteFromPrimitiveList/finalizers": []string{c.Names.JobTracking}},
	}), reconcile.IsNotFound, reconcile.IsConflict)
}

// Workloads returns a controller for the objects in a cache. It calls sync with each existing
// object and its decoded tree.
func (c *Cluster) Workloads(queue string, items *reconcile.Cache[*reconcile.Item], sync func(context.Context, *reconcile.Item, tree.Tree) error, needs ...reconcile.Source) *reconcile.Controller[meta.Key] {
	controller := c.Controller(queue, func(ctx context.Context, key meta.Key) error {
		item := items.Get(key)
		if item == nil {
			return nil
		}
		t, err := item.Tree()
		if err != nil {
			return err
		}
		return sync(ctx, item, t)
	}, append(needs, items)...)
	reconcile.Follow(controller, items)
	return controller
}
