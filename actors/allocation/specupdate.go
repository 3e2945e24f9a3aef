package allocation

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// specUpdate is a change to a Service's spec. Its methods fill in missing values. The caller holds
// the allocator's mutex.
type specUpdate struct {
	*serviceAllocation
	spec, oldSpec tree.Tree // oldSpec is nil for a create
	oldResources  serviceResources
	faults        *schema.Faults
}

func (c *specUpdate) allocate() {
	if service.NeedsClusterIP(c.spec) && !c.keepsPreferDualStack() && c.defaultFamilies() {
		c.allocateAddresses()
	}
	if service.NeedsNodePort(c.spec) {
		c.allocateNodePorts()
	}
	if service.NeedsHealthCheck(c.spec) {
		c.allocateHealthCheckPort()
	}
}

// allocateAddresses assigns one address per IP family. An existing Service keeps its addresses,
// because validation rejects changes to them.
func (c *specUpdate) allocateAddresses() {
	if service.IsHeadless(c.spec) {
		return
	}
	families, ips := c.spec.Strings("ipFamilies"), slices.Clone(c.spec.List("clusterIPs"))
	has := 0
	if service.NeedsClusterIP(c.oldSpec) {
		has = len(c.oldSpec.List("clusterIPs"))
	}
	requested := slices.Clone(ips)
	for i, family := range families {
		if i < len(ips) && i < has {
			continue
		}
		if i >= len(ips) {
			ips = append(ips, "")
			requested = append(requested, "")
		}
		ranges := c.allocator.rangesOf(family)
		if text, _ := ips[i].(string); text != "" {
			c.allocateRequestedAddress(ranges, text, requested)
			continue
		}
		a, ok := pickAddress(ranges, c.allocator.addresses.unallocated)
		if !ok {
			c.faults.Invalid("spec.clusterIPs", requested, "failed to allocate a serviceIP: range is full")
			return
		}
		c.addAddress(a)
		ips[i] = a.String()
	}
	if len(ips) > 0 {
		c.spec["clusterIP"], c.spec["clusterIPs"] = ips[0], ips
	}
}

func (c *specUpdate) allocateRequestedAddress(ranges []Range, text string, requested []any) {
	a, err := address.Parse(text)
	var why string
	switch {
	case err != nil || !slices.ContainsFunc(ranges, func(r Range) bool { return r.contains(a) }):
		why = fmt.Sprintf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", text, rangesText(ranges))
	case slices.Contains(c.acquired.addresses, a) || !c.allocator.addresses.available(c.owner, a):
		why = "provided IP is already allocated"
	default:
		c.addAddress(a)
		return
	}
	c.faults.Invalid("spec.clusterIPs", requested, fmt.Sprintf("failed to allocate IP %s: %s", text, why))
}

func (c *specUpdate) addAddress(a netip.Addr) {
	c.allocator.addresses.add(c.owner, a)
	c.acquired.addresses = append(c.acquired.addresses, a)
}

func pickAddress(ranges []Range, free func(netip.Addr) bool) (a netip.Addr, ok bool) {
	for _, r := range ranges {
		if a, ok = r.pick(free); ok {
			return a, true
		}
	}
	return a, false
}

func rangesText(ranges []Range) string {
	var texts []string
	for _, r := range ranges {
		texts = append(texts, r.String())
	}
	return strings.Join(texts, ", ")
}

// allocateNodePorts assigns node ports and stops at the first unavailable one. When a Service is
// created, ports with the same number but different protocols get the same node port.
func (c *specUpdate) allocateNodePorts() {
	shared := map[int64]int64{} // port → node port
	requested := c.requestedNodePorts()
	for i, p := range c.spec.Objects("ports") {
		if p == nil {
			continue
		}
		path := tree.IndexPath("spec.ports", i) + ".nodePort"
		port, _ := p.Int("port")
		n, _ := p.Int("nodePort")
		if n == 0 && !service.AllocatesNodePorts(c.spec) {
			continue
		}
		if n == 0 && c.oldSpec == nil {
			if n = shared[port]; n == 0 {
				n = requested[port]
			}
		}
		switch {
		case n == 0:
			n = c.allocateFreePort(path)
		case n != shared[port] || c.oldSpec != nil:
			n = c.allocateRequestedPort(n, path)
		}
		if n == 0 {
			return
		}
		p["nodePort"] = n
		if shared[port] == 0 {
			shared[port] = n
		}
	}
}

func (c *specUpdate) requestedNodePorts() map[int64]int64 {
	requested := map[int64]int64{}
	for _, p := range c.spec.Objects("ports") {
		port, _ := p.Int("port")
		if n, _ := p.Int("nodePort"); requested[port] == 0 {
			requested[port] = n
		}
	}
	return requested
}

// allocateRequestedPort acquires a requested port unless the Service already holds it. If the port
// is unavailable, it records a field error and returns 0.
func (c *specUpdate) allocateRequestedPort(n int64, path string) int64 {
	if slices.Contains(c.oldResources.ports, n) || c.oldSpec != nil && slices.Contains(c.acquired.ports, n) {
		return n
	}
	if why := c.checkPort(n); why != "" {
		c.faults.Invalid(path, n, why)
		return 0
	}
	c.addPort(n)
	return n
}

func (c *specUpdate) checkPort(n int64) string {
	switch {
	case !c.allocator.ports.contains(n):
		return fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %s", c.allocator.ports)
	case slices.Contains(c.acquired.ports, n) || !c.allocator.nodePorts.available(c.owner, n):
		return "provided port is already allocated"
	}
	return ""
}

func (c *specUpdate) allocateFreePort(path string) int64 {
	n, ok := c.allocator.ports.pick(c.allocator.nodePorts.unallocated)
	if !ok {
		c.faults.Invalid(path, int64(0), "failed to allocate a nodePort: range is full")
		return 0
	}
	c.addPort(n)
	return n
}

func (c *specUpdate) addPort(n int64) {
	c.allocator.nodePorts.add(c.owner, n)
	c.acquired.ports = append(c.acquired.ports, n)
}

// allocateHealthCheckPort allocates the health check node port. It keeps an existing port, because
// validation decides whether it may change.
func (c *specUpdate) allocateHealthCheckPort() {
	const path = "spec.healthCheckNodePort"
	if n := service.HealthCheckNodePort(c.oldSpec); n != 0 {
		return
	}
	n, _ := c.spec.Int("healthCheckNodePort")
	if n == 0 {
		if n = c.allocateFreePort(path); n != 0 {
			c.spec["healthCheckNodePort"] = n
		}
		return
	}
	if why := c.checkPort(n); why != "" {
		c.faults.Invalid(path, n, fmt.Sprintf("failed to allocate requested HealthCheck NodePort %d: %s", n, why))
		return
	}
	c.addPort(n)
}
