package allocation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
)

// serviceAllocation implements request.Reservation.
type serviceAllocation struct {
	allocator *ServiceAllocator
	owner     meta.Key
	acquired  serviceResources // at once
	toRelease serviceResources // when the change is stored
}

// Commit implements request.Reservation.
func (c *serviceAllocation) Commit() {
	c.allocator.mu.Lock()
	defer c.allocator.mu.Unlock()
	c.releaseAll(c.toRelease)
}

// Release implements request.Reservation.
func (c *serviceAllocation) Release() {
	c.allocator.mu.Lock()
	defer c.allocator.mu.Unlock()
	c.releaseAll(c.acquired)
}

// releaseAll makes resources free for others. The caller holds the mutex.
func (c *serviceAllocation) releaseAll(h serviceResources) {
	for _, a := range h.addresses {
		c.allocator.addresses.remove(c.owner, a)
	}
	for _, p := range h.ports {
		c.allocator.nodePorts.remove(c.owner, p)
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
