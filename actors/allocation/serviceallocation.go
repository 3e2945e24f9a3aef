package allocation

import (
	"net/netip"
	"slices"
	"strconv"

	"github.com/troupe-api/troupe/kinds/meta"
)

// serviceAllocation is the request.Reservation of one change of a Service. What is given up stays taken
// until the change is stored, or another Service could get it and the change then fail.
type serviceAllocation struct {
	allocator *ServiceAllocator
	owner     meta.Key
	acquired  serviceResources // at once
	toRelease serviceResources // when the change is applied
}

// Commit implements request.Reservation.
func (c *serviceAllocation) Commit() {
	c.allocator.mu.Lock()
	defer c.allocator.mu.Unlock()
	c.allocator.releaseAll(c.owner, c.toRelease)
}

// Release implements request.Reservation.
func (c *serviceAllocation) Release() {
	c.allocator.mu.Lock()
	defer c.allocator.mu.Unlock()
	c.allocator.releaseAll(c.owner, c.acquired)
}

// Claims implements request.Claimant.
func (c *serviceAllocation) Claims() (taken, released []string) {
	return c.acquired.names(), c.toRelease.names()
}

// names are the claims of the resources.
func (h serviceResources) names() []string {
	if len(h.addresses)+len(h.ports) == 0 {
		return nil
	}
	names := make([]string, 0, len(h.addresses)+len(h.ports))
	for _, a := range h.addresses {
		names = append(names, "address/"+a.String())
	}
	for _, p := range h.ports {
		names = append(names, "nodePort/"+strconv.FormatInt(p, 10))
	}
	return names
}

// releaseAll gives back what an owner has. The caller holds the lock.
func (s *ServiceAllocator) releaseAll(owner meta.Key, h serviceResources) {
	for _, a := range h.addresses {
		s.releaseAddress(owner, a)
	}
	for _, p := range h.ports {
		s.nodePorts.remove(owner, p)
	}
}

// releaseAddress gives back one address, and tells whoever waits for that. The caller holds the lock.
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

// difference is what is in a and not in b.
func difference[T comparable](a, b []T) []T {
	var out []T
	for _, v := range a {
		if !slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}
