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
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ServiceCIDRs maintains the finalizer and the Ready condition of ServiceCIDRs. It keeps a
// terminating ServiceCIDR while a Service has an address that no other ServiceCIDR contains.
//
// No more addresses are allocated from a terminating ServiceCIDR. The finalizer can therefore be
// removed once Services have released their existing addresses.
type ServiceCIDRs struct {
	*reconcile.Controller[string]
	cidrs, addresses reconcile.Client
	allocator        *allocation.ServiceAllocator
	repair           *Repair
	finalizer        string

	waiting sync.Map     // names of terminating ServiceCIDRs in use
	waits   atomic.Int32 // size of waiting
}

// NewServiceCIDRs returns a controller for allocator's ranges.
func NewServiceCIDRs(env *reconcile.Env, allocator *allocation.ServiceAllocator) *ServiceCIDRs {
	repair := NewRepair(env, allocator)
	c := &ServiceCIDRs{
		cidrs: repair.cidrs, addresses: repair.addresses, allocator: allocator, repair: repair,
		finalizer: env.Translate("networking.platform.io/service-cidr-finalizer"),
	}
	c.Controller = reconcile.New(env, "ipaddresses", c.sync, "cannot update a ServiceCIDR", "servicecidr")
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

func (c *ServiceCIDRs) Run(ctx context.Context) {
	if c.cidrs.Kind == nil {
		return // the group is disabled
	}
	c.allocator.OnRelease(c.recheck)
	c.Controller.Run(ctx)
}

// orphanDelay is the time after which an IPAddress without a Service is deleted. Its Service may be
// about to be created.
const orphanDelay = time.Minute

// followAddresses schedules a check of each IPAddress that no Service holds. It queries the
// allocator instead of caching IPAddresses, because there may be many.
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

// checkLater deletes an IPAddress if it is still an orphan after orphanDelay. Only the key stays in
// memory until then.
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
			c.Log.Warn("cannot delete an IPAddress without a Service", "address", key.Name, "error", err)
		}
	})
}

// recheck enqueues the terminating ServiceCIDRs that wait for their addresses to be released. It
// runs for each released address, so it must be cheap if no ServiceCIDR is waiting.
func (c *ServiceCIDRs) recheck() {
	if c.waits.Load() == 0 {
		return
	}
	c.waiting.Range(func(name, _ any) bool {
		c.Add(name.(string))
		return true
	})
}

// wait records that a ServiceCIDR is waiting for its addresses to be released. c.waits must equal
// the number of entries in c.waiting.
func (c *ServiceCIDRs) wait(name string) {
	if _, was := c.waiting.LoadOrStore(name, true); !was {
		c.waits.Add(1)
	}
}

func (c *ServiceCIDRs) stopWaiting(name string) {
	if _, was := c.waiting.LoadAndDelete(name); was {
		c.waits.Add(-1)
	}
}

// sync reconciles one ServiceCIDR. It adds the finalizer before the Ready condition, because a
// ready ServiceCIDR without the finalizer could be deleted while in use. Each write enqueues the
// ServiceCIDR again. sync recreates a deleted default ServiceCIDR.
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
	if tree.IsConditionTrue(object.Object("status"), "Ready") {
		return nil
	}
	message := "Kubernetes Service CIDR is ready"
	if name == c.repair.name {
		message = defaultReady // whichever of the two comes first
	}
	return writeReady(ctx, c.cidrs, o, object, ready(message))
}

func (c *ServiceCIDRs) terminate(ctx context.Context, o *meta.Object, object tree.Tree) error {
	c.wait(o.Key.Name) // before the check, to miss no release
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

// needed reports whether the ranges contain an allocated address that no other ServiceCIDR
// contains. For a terminating ServiceCIDR, it ignores terminating ServiceCIDRs with greater names.
// Otherwise, two ServiceCIDRs could rely on each other, and both would be deleted.
func (c *ServiceCIDRs) needed(ctx context.Context, o *meta.Object, ranges []netip.Prefix) (bool, error) {
	list, err := c.cidrs.List(ctx, request.List{})
	if err != nil {
		return false, err
	}
	var others []netip.Prefix
	for _, other := range list {
		if other.Key == o.Key || other.Meta.Terminating && other.Key.Name > o.Key.Name {
			continue // otherwise two ServiceCIDRs could rely on each other
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

func prefixesOf(object tree.Tree) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range object.Object("spec").Strings("cidrs") {
		if p, err := netip.ParsePrefix(text); err == nil {
			all = append(all, p)
		}
	}
	return all
}

func writeReady(ctx context.Context, cidrs reconcile.Client, o *meta.Object, object, condition tree.Tree) error {
	conditions := object.Object("status").List("conditions")
	now := reconcile.SetCondition(conditions, condition)
	if len(now) == len(conditions) && tree.SemanticEqual(now, conditions) {
		return nil
	}
	return cidrs.PatchStatus(ctx, o, tree.Tree{"conditions": now})
}

func ready(message string) tree.Tree {
	return reconcile.NewCondition("Ready", "True", "", message, time.Now())
}
