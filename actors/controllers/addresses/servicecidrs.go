package addresses

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ServiceCIDRs keeps the finalizer and the condition Ready of ServiceCIDRs. One that is being deleted stays while a
// Service has an address that no other one contains.
//
// No address is given out of a ServiceCIDR any more from the commit on that begins its deletion, and one that was given out
// before is known to the allocator at once: so the finalizer can go as soon as none is left.
type ServiceCIDRs struct {
	*reconcile.Controller[string]
	cidrs, addresses reconcile.Client
	allocator        *allocation.ServiceAllocator
	repair           *Repair
	finalizer        string

	waiting sync.Map     // names of the ServiceCIDRs that are to go, and are needed
	waits   atomic.Int32 // how many these are
}

// NewServiceCIDRs returns the controller.
func NewServiceCIDRs(env *reconcile.Env, allocator *allocation.ServiceAllocator) *ServiceCIDRs {
	repair := NewRepair(env, allocator)
	c := &ServiceCIDRs{
		cidrs: repair.cidrs, addresses: repair.addresses, allocator: allocator, repair: repair,
		finalizer: env.Translate("networking.platform.io/service-cidr-finalizer"),
	}
	c.Controller = reconcile.New(env, "ipaddresses", c.sync, "a ServiceCIDR cannot be kept up to date", "servicecidr")
	c.Watch(c.cidrs, func(e reconcile.Event) {
		if !e.Deleted || e.Key.Name == repair.name {
			c.Add(e.Key.Name)
		}
		c.recheck()
	})
	c.Go(func(ctx context.Context) {
		c.addresses.WatchLoop(ctx, func(int) func([]request.Event) error { return c.followAddresses(ctx) })
	})
	return c
}

// Run runs the controller until the context ends.
func (c *ServiceCIDRs) Run(ctx context.Context) {
	if c.cidrs.Kind == nil {
		return // the group is disabled
	}
	c.allocator.OnRelease(c.recheck)
	c.Controller.Run(ctx)
}

// orphanDelay is how long an IPAddress may be without the Service that it claims to be of, which may be about to come.
const orphanDelay = time.Minute

// followAddresses has IPAddresses looked at that only claim to be a Service's. It keeps nothing of the others: there may be
// many, so that the handler asks the allocator instead of remembering them.
func (c *ServiceCIDRs) followAddresses(ctx context.Context) func([]request.Event) error {
	return func(events []request.Event) error {
		for i := range events {
			if e := &events[i]; e.Type == request.Added {
				if a, err := netip.ParseAddr(e.Object.Key.Name); err == nil {
					if _, held := c.allocator.ServiceOf(a); !held {
						c.checkLater(ctx, e.Object.Key)
					}
				}
			}
		}
		return nil
	}
}

// checkLater deletes an IPAddress if it is an orphan after a while.
// It holds only the key until then, and reads the object anew.
func (c *ServiceCIDRs) checkLater(ctx context.Context, key meta.Key) {
	time.AfterFunc(orphanDelay, func() {
		if ctx.Err() != nil {
			return
		}
		o, err := c.addresses.Get(ctx, key)
		if err == nil && o != nil {
			err = c.repair.DeleteIfOrphan(ctx, o)
		}
		if err != nil && ctx.Err() == nil && !reconcile.IsConflict(err) {
			c.Log.Warn("an IPAddress without its Service stays", "address", key.Name, "error", err)
		}
	})
}

// recheck has those looked at that wait. It runs for each address that is given back, and almost always nothing waits: the counter
// makes that case a single atomic load.
func (c *ServiceCIDRs) recheck() {
	if c.waits.Load() == 0 {
		return
	}
	c.waiting.Range(func(name, _ any) bool {
		c.Add(name.(string))
		return true
	})
}

// wait notes whether a ServiceCIDR waits for addresses to be given up.
// The counter changes only when the set does, so that it stays equal to its size however often it is called.
func (c *ServiceCIDRs) wait(name string) {
	if _, was := c.waiting.LoadOrStore(name, true); !was {
		c.waits.Add(1)
	}
}

// stopWaiting undoes wait.
func (c *ServiceCIDRs) stopWaiting(name string) {
	if _, was := c.waiting.LoadAndDelete(name); was {
		c.waits.Add(-1)
	}
}

// sync brings one ServiceCIDR up to date.
//
// It makes one write at a time: the finalizer first, then the condition. Each write brings the object back into the
// queue. The finalizer must be there before Ready is, for otherwise a ServiceCIDR in use could be deleted at once.
// The default one is made anew when it is gone.
func (c *ServiceCIDRs) sync(ctx context.Context, name string) error {
	o, object, err := c.cidrs.ReadNamed(ctx, "", name)
	if err != nil {
		return err
	}
	if o == nil {
		c.stopWaiting(name)
		if name == c.repair.name {
			return c.repair.EnsureDefaultCIDR(ctx)
		}
		return nil
	}
	if o.Meta.Terminating {
		return c.terminate(ctx, o, object)
	}
	if !slices.Contains(o.Meta.Finalizers, c.finalizer) {
		return c.cidrs.AddFinalizer(ctx, o, c.finalizer)
	}
	if condition.IsTrue(object.Object("status"), "Ready") {
		return nil
	}
	message := "Kubernetes Service CIDR is ready"
	if name == c.repair.name {
		message = defaultReady // whichever of the two comes first
	}
	return writeReady(ctx, c.cidrs, o, object, ready(message))
}

// terminate lets a ServiceCIDR go that nobody needs, or says why it stays.
func (c *ServiceCIDRs) terminate(ctx context.Context, o *meta.Object, object tree.Tree) error {
	c.wait(o.Key.Name) // before it is looked at, so that no address is missed that is given up meanwhile
	needed, err := c.needed(ctx, o, prefixesOf(object))
	if err != nil {
		return err
	}
	if needed {
		return writeReady(ctx, c.cidrs, o, object, reconcile.NewCondition("Ready", "False", "Terminating",
			"There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR", time.Now()))
	}
	c.stopWaiting(o.Key.Name)
	return c.cidrs.RemoveFinalizer(ctx, o, c.finalizer)
}

// needed tells whether an address of some ranges is taken that no other ServiceCIDR contains.
//
// The names decide between two that are being deleted at the same time: if each relied on the other one, both would
// go.
func (c *ServiceCIDRs) needed(ctx context.Context, o *meta.Object, ranges []netip.Prefix) (bool, error) {
	list, err := c.cidrs.List(ctx, request.List{})
	if err != nil {
		return false, err
	}
	var others []netip.Prefix
	for _, other := range list {
		if other.Key == o.Key || other.Meta.Terminating && other.Key.Name > o.Key.Name {
			continue // of two that go and contain each other, one stays
		}
		object, err := c.cidrs.Decode(other)
		if err != nil {
			return false, err
		}
		others = append(others, prefixesOf(object)...)
	}
	return c.allocator.UsesAnyOf(func(a netip.Addr) bool {
		contains := func(p netip.Prefix) bool { return p.Contains(a) }
		return slices.ContainsFunc(ranges, contains) && !slices.ContainsFunc(others, contains)
	}), nil
}

// prefixesOf are the ranges of a ServiceCIDR.
func prefixesOf(object tree.Tree) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range object.Object("spec").Strings("cidrs") {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// writeReady writes the condition Ready of a ServiceCIDR, unless it says the same.
func writeReady(ctx context.Context, cidrs reconcile.Client, o *meta.Object, object, condition tree.Tree) error {
	conditions := object.Object("status").List("conditions")
	now := reconcile.SetCondition(conditions, condition)
	if len(now) == len(conditions) && tree.SemanticEqual(now, conditions) {
		return nil
	}
	return cidrs.PatchStatus(ctx, o, tree.Tree{"conditions": now})
}

// ready returns the condition of a ServiceCIDR that can be used.
func ready(message string) tree.Tree {
	return reconcile.NewCondition("Ready", "True", "", message, time.Now())
}
