package services

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy"
)

var (
	servicesResource = meta.GroupResource{Resource: "services"}
	slicesResource   = meta.GroupResource{Group: "discovery.platform.io", Resource: "endpointslices"}
)

// A Resolver returns the addresses of Services. It is safe for concurrent use. It does not watch
// EndpointSlices before its first use, because most servers have no webhooks behind Services.
type Resolver struct {
	objects   policy.Objects
	given     map[string]string // by "name.namespace"
	label     string            // EndpointSlice label with the name of the Service
	ctx       context.Context
	clusterIP bool

	follow   sync.Once
	err      error                        // error of follow
	onChange func(namespace, name string) // may be nil; guarded by mu
	mu       sync.Mutex
	slices   map[service]map[string]slice // by slice name; guarded by mu
	of       map[meta.Key]service         // Service of each slice; guarded by mu
}

type service struct{ namespace, name string }

type slice struct {
	addresses []string
	ports     map[string]int64
}

// NewResolver returns a Resolver that watches EndpointSlices until ctx ends. given maps Services,
// as name.namespace, to fixed addresses, as host:port.
func NewResolver(ctx context.Context, objects policy.Objects, naming *meta.Naming, given map[string]string) *Resolver {
	return &Resolver{
		ctx: ctx, objects: objects, given: given, label: naming.Translate("platform.io/service-name"),
		slices: map[service]map[string]slice{}, of: map[meta.Key]service{},
	}
}

// Dial connects to the first address that accepts a connection. It tries up to three addresses, for
// two seconds each. A single address has no time limit.
func Dial(ctx context.Context, dialer net.Dialer, network string, addresses []string) (conn net.Conn, err error) {
	if len(addresses) > 1 {
		dialer.Timeout = 2 * time.Second
	}
	for _, address := range addresses[:min(len(addresses), 3)] {
		if conn, err = dialer.DialContext(ctx, network, address); err == nil {
			break
		}
	}
	return conn, err
}

// Resolve returns one or more addresses of a Service port as host:port, the preferred one first.
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
	families := append(spec.Strings("ipFamilies"), "")
	rank := func(address string) int {
		if (address[0] == '[') == (families[0] == "IPv6") { // the primary family
			return 0
		}
		return 1
	}
	slices.SortStableFunc(addresses, func(a, b string) int { return rank(a) - rank(b) })
	return addresses, nil
}

func (r *Resolver) followSlices() error {
	r.follow.Do(func() { r.err = r.objects.Inform(r.ctx, slicesResource, r.update) })
	return r.err
}

func namedPort(spec tree.Tree, port int64) (name string, ok bool) {
	for _, p := range spec.Objects("ports") {
		if n, _ := p.Int("port"); n == port {
			return p.String("name"), true
		}
	}
	return "", false
}

// endpoints returns the ready addresses of a port. sliced reports whether the Service has
// EndpointSlices.
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

func (r *Resolver) update(c policy.Change) {
	changed, onChange := r.takeIn(c)
	if onChange == nil {
		return
	}
	for _, of := range changed {
		onChange(of.namespace, of.name)
	}
}

// takeIn applies a change to an EndpointSlice. It returns the Services to which the slice belonged
// before and after the change, and the callback that Notify has set.
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
