package allocation

import (
	"net/netip"
	"strconv"
	"sync"

	"github.com/troupe-api/troupe/actors/mutation"
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ServiceAllocator allocates addresses and ports to Services. It is safe for concurrent use.
type ServiceAllocator struct {
	ranges     []Range // configured: one, or one of each family; the first is the default
	ports      PortRange
	apiService meta.Key
	naming     *meta.Naming

	mu            sync.Mutex
	furtherRanges []furtherRange // of ServiceCIDRs
	addresses     table[netip.Addr]
	nodePorts     table[int64]
	onRelease     func() // may be nil
}

var _ mutation.Allocator = (*ServiceAllocator)(nil)

// NewServiceAllocator returns an allocator for the given ranges. apiService is the key of the API
// server's Service, which holds the first address.
func NewServiceAllocator(ranges []Range, ports PortRange, apiService meta.Key, naming *meta.Naming) *ServiceAllocator {
	s := &ServiceAllocator{ranges: ranges, ports: ports, apiService: apiService, naming: naming, addresses: table[netip.Addr]{}, nodePorts: table[int64]{}}
	s.addresses.add(apiService, s.APIServerServiceIP())
	return s
}

// Allocators returns the allocators for Services, IPAddresses and ServiceCIDRs by storage kind.
func (s *ServiceAllocator) Allocators() map[meta.GroupResource]mutation.Allocator {
	group := s.naming.Group("networking")
	return map[meta.GroupResource]mutation.Allocator{
		s.apiService.GroupResource:               s,
		{Group: group, Resource: "ipaddresses"}:  ipAddresses{s},
		{Group: group, Resource: "servicecidrs"}: serviceCIDRs{s},
	}
}

// OnRelease sets a callback that runs after each release of an address, possibly some time after
// the holder was deleted. The callback runs under the allocator's lock, so it must not block or use
// the allocator.
func (s *ServiceAllocator) OnRelease(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onRelease = do
}

// Ranges returns the configured ranges in CIDR notation.
func (s *ServiceAllocator) Ranges() []string {
	var texts []string
	for _, r := range s.ranges {
		texts = append(texts, r.String())
	}
	return texts
}

// APIServerServiceIP returns the address of the API server's Service.
func (s *ServiceAllocator) APIServerServiceIP() netip.Addr { return s.ranges[0].First() }

func (s *ServiceAllocator) Allocate(key meta.Key, old, want tree.Tree) (*request.Reservation, []meta.Cause) {
	c := &serviceAllocation{allocator: s, owner: key}
	oldResources := serviceResourcesOf(old.Object("spec"))
	if want == nil {
		c.toRelease = oldResources
		return c.reservation(), nil
	}
	spec := want.EnsureObject("spec")
	if old != nil && tree.SemanticEqual(spec, old["spec"]) {
		return nil, nil // as in a status update
	}
	var faults schema.Faults
	s.mu.Lock()
	defer s.mu.Unlock()
	change := specUpdate{serviceAllocation: c, spec: spec, oldSpec: old.Object("spec"), oldResources: oldResources, faults: &faults}
	change.allocate()
	if len(faults.List) > 0 {
		s.releaseAll(key, c.acquired)
		return nil, faults.List
	}
	c.toRelease = oldResources.without(serviceResourcesOf(spec))
	return c.reservation(), nil
}

func (s *ServiceAllocator) Observe(key meta.Key, old, stored tree.Tree) []meta.Cause {
	var faults schema.Faults
	had, has := serviceResourcesOf(old.Object("spec")), serviceResourcesOf(stored.Object("spec"))
	taken := has.without(had)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range taken.addresses {
		if !s.addresses.available(key, a) {
			faults.Duplicate("spec.clusterIPs", a.String())
		}
		s.addresses.add(key, a)
	}
	for _, p := range taken.ports {
		if !s.nodePorts.available(key, p) {
			faults.Duplicate("spec.ports.nodePort", p)
		}
		s.nodePorts.add(key, p)
	}
	s.releaseAll(key, had.without(has))
	return faults.List
}

// Allocated maps every allocated address and port to its owners. It includes the API server's
// address even if the API server's Service does not exist.
func (s *ServiceAllocator) Allocated() map[string][]meta.Key {
	s.mu.Lock()
	defer s.mu.Unlock()
	allocated := map[string][]meta.Key{}
	for a, list := range s.addresses {
		for _, h := range list {
			allocated[a.String()] = append(allocated[a.String()], h.owner)
		}
	}
	for p, list := range s.nodePorts {
		for _, h := range list {
			allocated[strconv.FormatInt(p, 10)] = append(allocated[strconv.FormatInt(p, 10)], h.owner)
		}
	}
	return allocated
}

type serviceResources struct {
	addresses []netip.Addr
	ports     []int64
}

// serviceResourcesOf returns the addresses and ports in a Service's spec. It ignores malformed
// addresses.
func serviceResourcesOf(spec tree.Tree) serviceResources {
	var h serviceResources
	if service.NeedsClusterIP(spec) {
		for _, text := range spec.Strings("clusterIPs") {
			if a, err := address.Parse(text); err == nil {
				h.addresses = appendUnique(h.addresses, a)
			}
		}
	}
	if service.NeedsNodePort(spec) {
		for _, n := range service.NodePorts(spec) {
			h.ports = appendUnique(h.ports, n)
		}
	}
	if n := service.HealthCheckNodePort(spec); n != 0 {
		h.ports = appendUnique(h.ports, n)
	}
	return h
}

func (h serviceResources) without(other serviceResources) serviceResources {
	return serviceResources{difference(h.addresses, other.addresses), difference(h.ports, other.ports)}
}
