package services

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

var (
	servicesResource = meta.GroupResource{Resource: "services"}
	slicesResource   = meta.GroupResource{Group: "discovery.platform.io", Resource: "endpointslices"}
)

// A Resolver finds the addresses of Services. Many goroutines may use it. It begins to follow
// EndpointSlices only when somebody asks for a Service, since most servers have no webhooks behind one.
type Resolver struct {
	objects policy.Objects
	given   map[string]string // by "name.namespace"
	label   string            // of EndpointSlices, which names their Service
	ctx     context.Context
	// clusterIP: the address of a Service goes before those of its endpoints.
	clusterIP bool

	follow   sync.Once
	err      error                        // of follow
	onChange func(namespace, name string) // nil: nobody is told; guarded by mu
	mu       sync.Mutex
	slices   map[service]map[string]slice // by the name of the slice; guarded by mu
	of       map[meta.Key]service         // to which service a slice belongs; guarded by mu
}

type service struct{ namespace, name string }

// A slice is an EndpointSlice: its ready addresses, and its ports by name.
type slice struct {
	addresses []string
	ports     map[string]int64
}

// NewResolver makes a Resolver that reads the cluster until ctx ends. given has addresses, host:port, of Services,
// name.namespace, that are not looked up.
func NewResolver(ctx context.Context, objects policy.Objects, naming *meta.Naming, given map[string]string) *Resolver {
	return &Resolver{
		ctx: ctx, objects: objects, given: given, label: naming.Translate("platform.io/service-name"),
		slices: map[service]map[string]slice{}, of: map[meta.Key]service{},
	}
}

// Resolve is where a port of a Service is reached: one or more addresses, host:port, the best first.
func (r *Resolver) Resolve(namespace, name string, port int64) ([]string, error) {
	if address, ok := r.given[name+"."+namespace]; ok {
		return []string{address}, nil
	}
	o := r.objects.Get(servicesResource, namespace, name)
	if o == nil {
		return nil, fmt.Errorf("service %q not found", name)
	}
	spec := o.Tree.Object("spec")
	if spec.String("type") == "ExternalName" {
		return []string{net.JoinHostPort(spec.String("externalName"), strconv.FormatInt(port, 10))}, nil
	}
	portName, ok := namedPort(spec, port)
	if !ok {
		return nil, fmt.Errorf("no service port %d found for service %q", port, name)
	}
	own := clusterAddress(spec)
	if own != "" && r.clusterIP {
		return []string{net.JoinHostPort(own, strconv.FormatInt(port, 10))}, nil
	}
	if err := r.followSlices(); err != nil {
		return nil, err
	}
	addresses, sliced := r.endpoints(service{namespace, name}, portName)
	if own != "" && !sliced {
		return []string{net.JoinHostPort(own, strconv.FormatInt(port, 10))}, nil
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("no endpoints available for service %q", name)
	}
	rand.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
	return addresses, nil
}

// followSlices begins to follow EndpointSlices, once.
func (r *Resolver) followSlices() error {
	r.follow.Do(func() { r.err = r.objects.Inform(r.ctx, slicesResource, r.update) })
	return r.err
}

// namedPort is the name of a port of a Service, which may be "".
func namedPort(spec tree.Tree, port int64) (name string, ok bool) {
	for _, p := range spec.Objects("ports") {
		if n, _ := p.Int("port"); n == port {
			return p.String("name"), true
		}
	}
	return "", false
}

// endpoints are the ready addresses behind a port, and whether the Service has any slices.
func (r *Resolver) endpoints(of service, portName string) (addresses []string, sliced bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.slices[of] {
		port, ok := s.ports[portName]
		if !ok {
			continue
		}
		for _, address := range s.addresses {
			addresses = append(addresses, net.JoinHostPort(address, strconv.FormatInt(port, 10)))
		}
	}
	return addresses, len(r.slices[of]) > 0
}

// update takes in a change of an EndpointSlice, and tells of it.
func (r *Resolver) update(c policy.Change) {
	changed, onChange := r.takeIn(c)
	if onChange == nil {
		return
	}
	for _, of := range changed {
		onChange(of.namespace, of.name)
	}
}

// takeIn takes in a change of an EndpointSlice. It returns the Services that it was of, and is now.
func (r *Resolver) takeIn(c policy.Change) (changed []service, onChange func(namespace, name string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if was, ok := r.of[c.Key]; ok {
		changed = append(changed, was)
		delete(r.slices[was], c.Key.Name)
		delete(r.of, c.Key)
		if len(r.slices[was]) == 0 {
			delete(r.slices, was)
		}
	}
	name := ""
	if !c.Deleted {
		name, _ = c.Meta.Labels.Get(r.label)
	}
	if name == "" {
		return changed, r.onChange
	}
	of := service{c.Key.Namespace, name}
	if r.slices[of] == nil {
		r.slices[of] = map[string]slice{}
	}
	r.slices[of][c.Key.Name] = parseSlice(c.Tree)
	r.of[c.Key] = of
	return append(changed, of), r.onChange
}

// parseSlice keeps what is needed to connect.
func parseSlice(t tree.Tree) slice {
	s := slice{ports: map[string]int64{}}
	for _, p := range t.Objects("ports") {
		if n, ok := p.Int("port"); ok {
			s.ports[p.String("name")] = n
		}
	}
	for _, e := range t.Objects("endpoints") {
		if ready, known := e.Object("conditions")["ready"].(bool); ready || !known {
			s.addresses = append(s.addresses, e.Strings("addresses")...)
		}
	}
	return s
}
