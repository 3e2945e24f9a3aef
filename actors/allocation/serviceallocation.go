package allocation

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/request"
)

// serviceAllocation records the values that a change to a Service acquires and releases. Released
// values stay allocated until the change is stored, in case the change fails.
type serviceAllocation struct {
	allocator *ServiceAllocator
	owner     meta.Key
	acquired  serviceResources // acquired immediately
	toRelease serviceResources // released when the change is applied
}

func (c *serviceAllocation) reservation() *request.Reservation {
	if c.acquired.empty() && c.toRelease.empty() {
		return nil
	}
	release := func(h serviceResources) {
		c.allocator.mu.Lock()
		defer c.allocator.mu.Unlock()
		c.allocator.releaseAll(c.owner, h)
	}
	return &request.Reservation{
		OnCommit:   func() { release(c.toRelease) },
		OnRelease:  func() { release(c.acquired) },
		Claims:     c.claims(),
		Companions: c.companions(),
	}
}

func (h serviceResources) empty() bool { return len(h.addresses)+len(h.ports) == 0 }

func (c *serviceAllocation) claims() []request.Claim {
	var claims []request.Claim
	for _, name := range c.acquired.claimNames() {
		claims = append(claims, request.Claim{Name: name})
	}
	for _, name := range c.toRelease.claimNames() {
		claims = append(claims, request.Claim{Name: name, Release: true})
	}
	return claims
}

func (h serviceResources) claimNames() []string {
	names := make([]string, 0, len(h.addresses)+len(h.ports))
	for _, a := range h.addresses {
		names = append(names, addressClaim(a))
	}
	for _, p := range h.ports {
		names = append(names, "nodePort/"+strconv.FormatInt(p, 10))
	}
	return names
}

func addressClaim(a netip.Addr) string { return "address/" + a.String() }

// releaseAll must be called with mu held.
func (s *ServiceAllocator) releaseAll(owner meta.Key, h serviceResources) {
	for _, a := range h.addresses {
		s.releaseAddress(owner, a)
	}
	for _, p := range h.ports {
		s.nodePorts.remove(owner, p)
	}
}

// releaseAddress must be called with mu held.
func (s *ServiceAllocator) releaseAddress(owner meta.Key, a netip.Addr) {
	s.addresses.remove(owner, a)
	if s.onRelease != nil {
		s.onRelease()
	}
}

func appendUnique[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

func difference[T comparable](a, b []T) []T {
	var out []T
	for _, v := range a {
		if !slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}
