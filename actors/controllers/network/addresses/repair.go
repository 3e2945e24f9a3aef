package addresses

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/troupe-api/troupe/actors/allocation"
	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/address"
	servicekind "github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Repair creates the objects that must exist before the first request: the default ServiceCIDR and
// an IPAddress for each Service address. It reports conflicts to administrators as Events.
type Repair struct {
	*reconcile.Env
	allocator                  *allocation.ServiceAllocator
	services, addresses, cidrs reconcile.Client // the last two may be disabled
	name                       string           // of the default ServiceCIDR
}

const component = "ipallocator-repair-controller"

// NewRepair returns a Repair for allocator's addresses.
func NewRepair(env *reconcile.Env, allocator *allocation.ServiceAllocator) *Repair {
	return &Repair{
		Env: env, allocator: allocator, services: env.Core("Service").Reporting(component), name: env.Translate("platform"),
		addresses: env.Client("networking.platform.io", "v1", "IPAddress").Reporting(component),
		cidrs:     env.Client("networking.platform.io", "v1", "ServiceCIDR").Reporting(component),
	}
}

// Ensure creates the missing objects. If it cannot create the ServiceCIDR, it still creates the
// IPAddresses.
func (r *Repair) Ensure(ctx context.Context) error {
	err := r.EnsureDefaultCIDR(ctx)
	for range maxTries {
		if !reconcile.IsConflict(err) {
			break // only conflicts with the controller are retried
		}
		err = r.EnsureDefaultCIDR(ctx)
	}
	return errors.Join(err, r.ensureAddresses(ctx))
}

const maxTries = 10

// EnsureDefaultCIDR creates the ServiceCIDR for the configured ranges, or adds the second IP
// family's range to it. It only reports other differences, because addresses may be allocated from
// the existing ranges. The caller must retry after a conflict.
func (r *Repair) EnsureDefaultCIDR(ctx context.Context) error {
	if r.cidrs.Kind == nil {
		return nil
	}
	key := r.cidrs.Key("", r.name)
	o, object, err := r.cidrs.Read(ctx, key)
	if err != nil {
		return err
	}
	ranges := r.allocator.Ranges()
	if o == nil {
		err = r.cidrs.Ensure(ctx, tree.Tree{"metadata": tree.Tree{"name": r.name}, "spec": tree.Tree{"cidrs": tree.ListOf(ranges)}})
		if err != nil {
			return err
		}
		if o, object, err = r.cidrs.Read(ctx, key); err != nil || o == nil {
			return err
		}
	}
	has := object.Object("spec").Strings("cidrs")
	switch {
	case slices.Equal(has, ranges):
	case len(ranges) == 2 && len(has) == 1 && has[0] == ranges[0]:
		if err := r.cidrs.Patch(ctx, o, "", tree.Tree{"spec": tree.Tree{"cidrs": tree.ListOf(ranges)}}); err != nil {
			return err
		}
		return r.EnsureDefaultCIDR(ctx)
	default:
		r.Log.Warn("the default ServiceCIDR differs from the configuration", "servicecidr", strings.Join(has, ","), "configuration", strings.Join(ranges, ","))
		r.cidrs.Warn(o, "KubernetesDefaultServiceCIDRInconsistent",
			"The default ServiceCIDR ["+strings.Join(has, " ")+"] does not match the controller flag configurations ["+strings.Join(ranges, " ")+"]")
		return nil
	}
	if o.Meta.Terminating || tree.FindCondition(object.Object("status"), "Ready") != nil {
		return nil
	}
	return writeReady(ctx, r.cidrs, o, object, ready(defaultReady))
}

const defaultReady = "Kubernetes default Service CIDR is ready"

// ensureAddresses creates missing IPAddresses of Services and deletes orphaned IPAddresses. After
// an error for one Service, it continues with the next.
func (r *Repair) ensureAddresses(ctx context.Context) error {
	if r.addresses.Kind == nil {
		return nil
	}
	services, err := r.services.List(ctx, request.List{})
	if err != nil {
		return err
	}
	var made atomic.Int64
	err = reconcile.ForEachParallel(services, func(o *meta.Object) error {
		n, err := r.ensureAddressesOf(ctx, o)
		made.Add(int64(n))
		return err
	})
	if n := made.Load(); n > 0 {
		r.Log.Info("created IPAddresses for existing Services", "count", n)
	}
	addresses, listErr := r.addresses.List(ctx, request.List{})
	if listErr != nil {
		return errors.Join(err, listErr)
	}
	return errors.Join(err, reconcile.ForEachParallel(addresses, func(o *meta.Object) error { return r.DeleteIfOrphan(ctx, o) }))
}

func (r *Repair) ensureAddressesOf(ctx context.Context, o *meta.Object) (made int, err error) {
	object, err := r.services.Decode(o)
	if err != nil {
		return 0, err
	}
	spec := object.Object("spec")
	if !servicekind.NeedsClusterIP(spec) || servicekind.IsHeadless(spec) {
		return 0, nil
	}
	for _, text := range spec.Strings("clusterIPs") {
		a, err := address.Parse(text)
		if err != nil {
			continue
		}
		ok, err := r.ensureAddress(ctx, o, a)
		if err != nil {
			return made, err
		}
		if ok {
			made++
		}
	}
	return made, nil
}

// ensureAddress creates the IPAddress for an address of a Service, and reports whether it was
// missing. In older data, two Services may share an address. If the IPAddress belongs to another
// Service, ensureAddress keeps it and writes a warning Event.
func (r *Repair) ensureAddress(ctx context.Context, service *meta.Object, a netip.Addr) (made bool, err error) {
	o, object, err := r.addresses.Read(ctx, r.allocator.IPAddressKey(a))
	if err != nil {
		return false, err
	}
	wanted := r.allocator.NewIPAddress(service.Key, a)
	if o != nil {
		if tree.SemanticEqual(object["spec"], wanted["spec"]) {
			return false, nil
		}
		r.services.Warn(service, "ClusterIPAlreadyAllocated",
			"Cluster IP "+a.String()+" was assigned to multiple services; please recreate service")
		return false, nil
	}
	_, err = r.addresses.Create(ctx, wanted)
	return true, err
}

// DeleteIfOrphan deletes an IPAddress that the allocator created if no Service holds the address.
// It ignores users' IPAddresses and invalid names. After a concurrent change, it returns a
// conflict.
func (r *Repair) DeleteIfOrphan(ctx context.Context, o *meta.Object) error {
	object, err := r.addresses.Decode(o)
	if err != nil || !r.allocator.IsManaged(object) {
		return err
	}
	a, err := netip.ParseAddr(o.Key.Name)
	if err != nil {
		return nil
	}
	if _, held := r.allocator.ServiceOf(a); held {
		return nil
	}
	r.addresses.Warn(o, "IPAddressNotAllocated", "IPAddress: "+o.Key.Name+" for Service appears to have leaked: cleaning up")
	return r.addresses.Delete(ctx, o)
}
