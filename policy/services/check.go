package services

import (
	"context"
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A Fault is why a port of a Service cannot be reached, as far as objects tell.
type Fault struct {
	Reason  string // ServiceNotFound, ServicePortError, EndpointsNotFound or MissingEndpoints
	Message string
}

func (f *Fault) Error() string { return f.Message }

// Check looks for a *Fault of a port of a Service. One whose address is given has none; and of one that is reached by
// anything but endpoints of the cluster, only that it exists is known.
func (r *Resolver) Check(namespace, name string, port int64) error {
	if _, ok := r.given[name+"."+namespace]; ok {
		return nil
	}
	at := fmt.Sprintf("service/%s in %q", name, namespace)
	o := r.objects.Get(servicesResource, namespace, name)
	if o == nil {
		return &Fault{"ServiceNotFound", at + " is not present"}
	}
	spec := o.Tree.Object("spec")
	if spec.String("type") != "ClusterIP" {
		return nil
	}
	portName, ok := namedPort(spec, port)
	if !ok {
		return &Fault{"ServicePortError", fmt.Sprintf("%s is not listening on port %d", at, port)}
	}
	if err := r.followSlices(); err != nil {
		return err
	}
	addresses, sliced := r.endpoints(service{namespace, name}, portName)
	switch {
	case !sliced:
		return &Fault{"EndpointsNotFound", "cannot find endpointslices for " + at}
	case len(addresses) == 0:
		return &Fault{"MissingEndpoints", fmt.Sprintf("endpointslices for %s have no addresses with port name %q", at, portName)}
	}
	return nil
}

// Notify calls onChange, until the context ends or that of the Resolver, with each Service of which something has changed
// that decides how it is reached. It returns when it has begun, and is called again only if it has failed. onChange must
// not wait.
func (r *Resolver) Notify(ctx context.Context, onChange func(namespace, name string)) error {
	r.mu.Lock()
	r.onChange = onChange
	r.mu.Unlock()
	if err := r.followSlices(); err != nil {
		return err
	}
	return r.objects.Inform(ctx, servicesResource, func(c policy.Change) { onChange(c.Key.Namespace, c.Key.Name) })
}

// ViaClusterIP makes Resolve answer the address of a Service itself, where it has one, in place of its endpoints. It
// is called before the Resolver is used.
func (r *Resolver) ViaClusterIP() *Resolver {
	r.clusterIP = true
	return r
}

// clusterAddress is the address of a Service; "" if it has none.
func clusterAddress(spec tree.Tree) string {
	if ip := spec.String("clusterIP"); ip != "None" {
		return ip
	}
	return ""
}
