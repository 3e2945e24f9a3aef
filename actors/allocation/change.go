package allocation

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A change is a Service on its way from one spec to another, which settle completes. Its
// owner holds the lock of Services.
type change struct {
	*claim
	spec, was schema.Tree // was is nil for a create
	had       holdings
	faults    *schema.Faults
}

// settle chooses what the new spec leaves open, and takes what it needs.
func (c *change) settle() {
	if catalog.ServiceNeedsClusterIP(c.spec) && !c.keepsPreference() && c.settleFamilies() {
		c.settleAddresses()
	}
	if catalog.ServiceNeedsNodePort(c.spec) {
		c.settleNodePorts()
	}
	if catalog.ServiceNeedsHealthCheck(c.spec) {
		c.settleHealthCheck()
	}
}

// settleAddresses gives each family its address. An existing Service keeps those it has:
// whether they may change is for validation to say.
func (c *change) settleAddresses() {
	if catalog.ServiceIsHeadless(c.spec) {
		return
	}
	families, ips := rules.Texts(c.spec, "ipFamilies"), slices.Clone(rules.Items(c.spec, "clusterIPs"))
	has := 0
	if catalog.ServiceNeedsClusterIP(c.was) {
		has = len(rules.Items(c.was, "clusterIPs"))
	}
	asked := slices.Clone(ips)
	for i, family := range families {
		if i < len(ips) && i < has {
			continue
		}
		if i >= len(ips) {
			ips = append(ips, "")
			asked = append(asked, "")
		}
		r := c.rangeOf(family)
		if text, _ := ips[i].(string); text != "" {
			c.takeAddress(r, text, asked)
			continue
		}
		a, ok := r.pick(c.services.addresses.untaken)
		if !ok {
			c.faults.Invalid("spec.clusterIPs", asked, "failed to allocate a serviceIP: range is full")
			return
		}
		c.addAddress(a)
		ips[i] = a.String()
	}
	if len(ips) > 0 {
		c.spec["clusterIP"], c.spec["clusterIPs"] = ips[0], ips
	}
}

// takeAddress takes an address that the client has chosen.
func (c *change) takeAddress(r Range, text string, asked []any) {
	a, err := netip.ParseAddr(text)
	var why string
	switch {
	case err != nil || !r.holds(a):
		why = fmt.Sprintf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", text, r)
	case slices.Contains(c.taken.addresses, a) || !c.services.addresses.free(c.owner, a):
		why = "provided IP is already allocated"
	default:
		c.addAddress(a)
		return
	}
	c.faults.Invalid("spec.clusterIPs", asked, fmt.Sprintf("failed to allocate IP %s: %s", text, why))
}

func (c *change) addAddress(a netip.Addr) {
	c.services.addresses.take(c.owner, a)
	c.taken.addresses = append(c.taken.addresses, a)
}

// rangeOf is the range of a family, which is one of those that there are.
func (c *change) rangeOf(family string) Range {
	i := slices.IndexFunc(c.services.ranges, func(r Range) bool { return r.family() == family })
	return c.services.ranges[max(i, 0)]
}

// settleNodePorts gives the ports their node ports, up to the first that cannot be had. In
// a create, ports of one number and several protocols share one.
func (c *change) settleNodePorts() {
	shared := map[int64]int64{} // port → node port
	asked := c.askedPorts()
	for i, p := range rules.Trees(c.spec, "ports") {
		if p == nil {
			continue
		}
		path := rules.At("spec.ports", i) + ".nodePort"
		port, _ := rules.Int(p, "port")
		n, _ := rules.Int(p, "nodePort")
		if n == 0 && !catalog.ServiceAllocatesNodePorts(c.spec) {
			continue
		}
		if n == 0 && c.was == nil {
			if n = shared[port]; n == 0 {
				n = asked[port]
			}
		}
		switch {
		case n == 0:
			n = c.pickPort(path)
		case n != shared[port] || c.was != nil:
			n = c.takePort(n, path)
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

// askedPorts are the first node ports that the client has chosen for each port.
func (c *change) askedPorts() map[int64]int64 {
	asked := map[int64]int64{}
	for _, p := range rules.Trees(c.spec, "ports") {
		port, _ := rules.Int(p, "port")
		if n, _ := rules.Int(p, "nodePort"); asked[port] == 0 {
			asked[port] = n
		}
	}
	return asked
}

// takePort takes a port that the client has chosen, unless the Service has it; 0, and a
// fault, if it cannot be had.
func (c *change) takePort(n int64, path string) int64 {
	if slices.Contains(c.had.ports, n) || c.was != nil && slices.Contains(c.taken.ports, n) {
		return n
	}
	if why := c.refusePort(n); why != "" {
		c.faults.Invalid(path, n, why)
		return 0
	}
	c.addPort(n)
	return n
}

// refusePort says why a port cannot be had; "" if it can.
func (c *change) refusePort(n int64) string {
	switch {
	case !c.services.ports.holds(n):
		return fmt.Sprintf("provided port is not in the valid range. The range of valid ports is %s", c.services.ports)
	case slices.Contains(c.taken.ports, n) || !c.services.nodePorts.free(c.owner, n):
		return "provided port is already allocated"
	}
	return ""
}

// pickPort takes a free port; 0, and a fault, if there is none.
func (c *change) pickPort(path string) int64 {
	n, ok := c.services.ports.pick(c.services.nodePorts.untaken)
	if !ok {
		c.faults.Invalid(path, int64(0), "failed to allocate a nodePort: range is full")
		return 0
	}
	c.addPort(n)
	return n
}

func (c *change) addPort(n int64) {
	c.services.nodePorts.take(c.owner, n)
	c.taken.ports = append(c.taken.ports, n)
}

// settleHealthCheck gives the Service the port at which nodes tell of it. One that it has
// stays: whether it may change is for validation to say.
func (c *change) settleHealthCheck() {
	const path = "spec.healthCheckNodePort"
	if n, _ := rules.Int(c.was, "healthCheckNodePort"); n != 0 && catalog.ServiceNeedsHealthCheck(c.was) {
		return
	}
	n, _ := rules.Int(c.spec, "healthCheckNodePort")
	if n == 0 {
		if n = c.pickPort(path); n != 0 {
			c.spec["healthCheckNodePort"] = n
		}
		return
	}
	if why := c.refusePort(n); why != "" {
		c.faults.Invalid(path, n, fmt.Sprintf("failed to allocate requested HealthCheck NodePort %d: %s", n, why))
		return
	}
	c.addPort(n)
}
