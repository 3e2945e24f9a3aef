package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/meta"
)

// A Controller is a queue of the keys of one kind, and the workers that bring each object to what it asks for.
// A turn for a key looks at the latest state and not at what has changed, so that any number of changes may become one
// turn, and a turn too many does no harm.
type Controller struct {
	Cluster *Cluster
	Name    string // of the queue, as metrics know it

	queue *reconcile.Workqueue[meta.Key]
	later *reconcile.Schedule[meta.Key]
	needs []follower
	sync  func(context.Context, meta.Key) error
	alone bool // no other process does the same
}

// A follower is a cache that a controller needs.
// Several controllers may need the same one; each calls Run, and one of the calls does the work.
type follower interface {
	Run(context.Context)
	Wait(context.Context) bool
}

// NewController makes a controller that calls sync for each key that was added, again after an error, and never twice
// at a time for one key. It begins when the caches that it needs know every object.
func NewController(c *Cluster, name string, sync func(context.Context, meta.Key) error, needs ...follower) *Controller {
	return &Controller{Cluster: c, Name: name, queue: reconcile.NewWorkqueue[meta.Key]().Named(name), later: reconcile.NewSchedule[meta.Key](), needs: needs, sync: sync}
}

// Alone says that no other process does what this controller does, whoever else leads. It is called before Run.
func (c *Controller) Alone() { c.alone = true }

// Add adds the key of an object that is to be looked at.
func (c *Controller) Add(key meta.Key) { c.queue.Add(key) }

// AddAt adds a key at a time, unless it is added earlier anyway: then whoever looks at it says when to look again.
// It is for what time alone brings about, such as a deadline. The time is forgotten when the object is deleted.
func (c *Controller) AddAt(key meta.Key, at time.Time) { c.later.SetEarlier(key, at) }

// AddAfter adds a key later.
func (c *Controller) AddAfter(key meta.Key, delay time.Duration) { c.AddAt(key, time.Now().Add(delay)) }

// Run works until the context ends.
// The order matters: workers begin when the caches are complete, because a controller that knows only some of its Pods
// would make the others again. It returns when everything that it has started has ended.
func (c *Controller) Run(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { c.Cluster.RunEvents(ctx) })
	for _, f := range c.needs {
		running.Go(func() { f.Run(ctx) })
	}
	for _, f := range c.needs {
		if !f.Wait(ctx) {
			return
		}
	}
	running.Go(func() { c.later.Run(ctx, c.Add) })
	c.queue.Run(ctx, c.work, func(key meta.Key, err error) {
		if !IsNamespaceTerminating(err) {
			c.Cluster.Logger.Info("a workload is tried again", "controller", c.Name, "key", key.String(), "error", err)
		}
	})
}

// work does what is due for a key, when nobody else does. What is known of the cluster is kept up to date meanwhile.
// The worker waits while another process leads, and keeps its key; the caches are followed all the same, so that taking
// over takes no time.
func (c *Controller) work(ctx context.Context, key meta.Key) error {
	for !c.alone {
		holder, changed := c.Cluster.leader.Holder(ctx)
		if holder == "" {
			return c.sync(ctx, key)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return c.sync(ctx, key)
}

// FollowPods adds the controller of each Pod that changes and, for a Pod that nobody controls, all objects of the kind
// that select it.
func (c *Controller) FollowPods(items *Cache[*Item]) {
	c.Cluster.Pods.Subscribe(func(old, now *Pod) {
		var was, is *Head
		if old != nil {
			was = old.Ref()
		}
		if now != nil {
			is = now.Ref()
		}
		c.followDependent(items, was, is)
	})
}

// FollowItems is FollowPods for dependents of another kind.
func (c *Controller) FollowItems(dependents, items *Cache[*Item]) {
	dependents.Subscribe(func(old, now *Item) {
		var was, is *Head
		if old != nil {
			was = old.Ref()
		}
		if now != nil {
			is = now.Ref()
		}
		c.followDependent(items, was, is)
	})
}

// followDependent adds the owners before and after the change, as both have to count again when a dependent changes
// hands. An orphan is shown to all that select it; which of them adopts it is settled by the first write.
func (c *Controller) followDependent(items *Cache[*Item], old, now *Head) {
	for _, h := range []*Head{old, now} {
		if h == nil {
			continue
		}
		if owner := items.Controlled(h.Key.Namespace, h.Controller); owner != nil {
			c.Add(owner.Key)
		}
	}
	if now == nil || now.Controller != nil || now.Terminating {
		return
	}
	for _, i := range items.inNamespace(now.Key.Namespace) {
		if i.Selects(now.Labels) {
			c.Add(i.Key)
		}
	}
}

// Follow adds the key of each object that changes.
func (c *Controller) Follow(items *Cache[*Item]) {
	items.Subscribe(func(old, now *Item) {
		if now != nil {
			c.Add(now.Key)
		} else {
			c.later.Remove(old.Key)
		}
	})
}

// IsNamespaceTerminating reports whether a create was refused because the namespace is being deleted.
func IsNamespaceTerminating(err error) bool {
	var status *meta.Status
	return errors.As(err, &status) && status.Details != nil && slices.ContainsFunc(status.Details.Causes, func(c meta.Cause) bool {
		return c.Type == "NamespaceTerminating"
	})
}
