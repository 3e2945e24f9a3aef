package cluster

import (
	"context"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
)

// A Cluster is what the controllers of workloads see of the cluster.
// All controllers of a process share one, so that each kind is followed once.
type Cluster struct {
	*reconcile.Env
	Names Names
	Now   func() time.Time

	Pods  *reconcile.Cache[*Pod]
	Nodes *reconcile.Cache[*Node]

	leader Leader
}

// A Leader tells who runs controllers for the same cluster in another process: "" is nobody. It waits until that is
// known, or the context ends. The channel is closed when it changes.
// Two processes that both run controllers would each make the Pods that are missing, so the one that does not lead does
// nothing.
type Leader interface {
	Holder(ctx context.Context) (holder string, changed <-chan struct{})
}

// New makes a Cluster over a store, whose writes are admitted like those of clients. Nothing is followed yet.
func New(env *reconcile.Env, leader Leader) *Cluster {
	c := &Cluster{Env: env, Names: NewNames(env.Naming), Now: time.Now, leader: leader}
	pods, nodes := env.Core("Pod").As(reconcile.Manager), env.Core("Node").As(reconcile.Manager)
	c.Pods = reconcile.NewCache(pods, podView(pods, c.Names, env.Log))
	c.Nodes = reconcile.NewCache(nodes, nodeView(nodes, env.Naming, env.Log))
	return c
}

// Controller returns a controller that stands back while another process leads. It reconciles as soon as all that it
// needs is known.
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

// LoneController returns a controller that no other process has.
func (c *Cluster) LoneController(queue string, sync func(context.Context, meta.Key) error, needs ...reconcile.Source) *reconcile.Controller[meta.Key] {
	controller := reconcile.New(c.Env, queue, sync, "", "")
	controller.Failed = func(key meta.Key, err error) {
		if !reconcile.IsNamespaceTerminating(err) {
			c.Log.Info("a workload is tried again", "controller", queue, "key", key.String(), "error", err)
		}
	}
	controller.From(needs...)
	return controller
}

// Untrack removes the finalizer by which a Job keeps a Pod until it has counted it.
func (c *Cluster) Untrack(ctx context.Context, p *Pod) error {
	return reconcile.Except(c.Pods.StrategicPatch(ctx, p.Key, p.UID, "", tree.Tree{
		"metadata": tree.Tree{"$deleteFromPrimitiveList/finalizers": []string{c.Names.JobTracking}},
	}), reconcile.IsNotFound, reconcile.IsConflict)
}

// Workloads returns a controller of the objects in a cache. It is given those that exist, decoded.
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
