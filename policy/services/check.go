package services

import (
	"context"
	"fmt"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

// A Fault is the reason why a Service port is unreachable.
type Fault struct {
	Reason  string // ServiceNotFound, ServicePortError, EndpointsNotFound or MissingEndpoints
	Message string
}

func (f *Fault) Error() string { return f.Message }

// Check returns a *Fault if a Service port is unreachable. A Service with a fixed address (see
// NewResolver) is always reachable. For types other than ClusterIP, Check requires only that the
// Service exists.
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

// Notify calls onChange for each Service whose reachability may have changed, until ctx or the
// Resolver's context ends. It returns once it has read the existing objects. After a success, it
// must not be called again. onChange must not block.
func (r *Resolver) Notify(ctx context.Context, onChange func(namespace, name string)) error {
	r.mu.Lock()
	r.onChange = onChange
	r.mu.Unlock()
	if err := r.followSlices(); err != nil {
		return err
	}
	return r.objects.Inform(ctx, servicesResource, func(c policy.Change) { onChange(c.Key.Namespace, c.Key.Name) })
}

// ViaClusterIP makes Resolve prefer the cluster IP of a Service to its endpoints. It must be called
// before the Resolver is used.
func (r *Resolver) ViaClusterIP() *Resolver {
	r.clusterIP = true
	return r
}

func clusterAddress(spec tree.Tree) string {
	if ip := spec.String("clusterIP"); ip != "None" {
		return ip
	}
	return ""
}
