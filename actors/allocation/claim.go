package allocation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A claim implements mutation.Claim.
type claim struct {
	services *Services
	owner    meta.Key
	taken    holdings // at once
	lost     holdings // when the change has landed
}

// Keep implements mutation.Claim.
func (c *claim) Keep() {
	c.services.mu.Lock()
	defer c.services.mu.Unlock()
	c.give(c.lost)
}

// Drop implements mutation.Claim.
func (c *claim) Drop() {
	c.services.mu.Lock()
	defer c.services.mu.Unlock()
	c.give(c.taken)
}

// give gives back. The caller holds the lock.
func (c *claim) give(h holdings) {
	for _, a := range h.addresses {
		c.services.addresses.give(c.owner, a)
	}
	for _, p := range h.ports {
		c.services.nodePorts.give(c.owner, p)
	}
}

func appendNew[T comparable](list []T, v T) []T {
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
