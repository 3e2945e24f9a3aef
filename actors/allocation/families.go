package allocation

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// IP families and Service IP family policies.
const (
	familyIPv4       = "IPv4"
	familyIPv6       = "IPv6"
	singleStack      = "SingleStack"
	preferDualStack  = "PreferDualStack"
	requireDualStack = "RequireDualStack"
)

// keepsPreferDualStack reports whether an update must keep a PreferDualStack Service's families.
// After the cluster has become dual-stack, an unrelated update must not add a second family.
func (c *specUpdate) keepsPreferDualStack() bool {
	if c.oldSpec == nil || c.spec.String("ipFamilyPolicy") != preferDualStack {
		return false
	}
	for _, name := range []string{"type", "ipFamilyPolicy", "clusterIP", "clusterIPs", "ipFamilies"} {
		if !tree.SemanticEqual(c.spec[name], c.oldSpec[name]) {
			return false
		}
	}
	return true
}

// defaultFamilies sets missing ipFamilyPolicy and ipFamilies, and reports whether addresses can be
// allocated. It ignores malformed cluster IPs, because validation reports them.
func (c *specUpdate) defaultFamilies() bool {
	c.defaultPolicy()
	var malformed schema.Faults
	service.ValidateClusterIPs(c.spec, &malformed)
	if len(malformed.List) > 0 {
		return false
	}
	before := len(c.faults.List)
	policy := c.spec.String("ipFamilyPolicy")
	if c.oldSpec != nil {
		c.downgradeToSingleStack(policy)
	}
	if policy == singleStack {
		c.rejectDualStack()
	}
	c.inferFamilies()
	if len(c.faults.List) > before {
		return false
	}
	if c.headlessWithoutSelector() {
		c.completeFamilies(policy, true)
		return true
	}
	c.checkFamilies(policy)
	if len(c.faults.List) > before {
		return false
	}
	c.completeFamilies(policy, len(c.allocator.ranges) == 2)
	return true
}

// headlessWithoutSelector reports whether the Service is headless and has no selector. Such a
// Service needs no address, so it may have families without a range.
func (c *specUpdate) headlessWithoutSelector() bool {
	return service.IsHeadless(c.spec) && len(c.spec.Object("selector")) == 0
}

// defaultPolicy sets a missing policy to the previous one, or to SingleStack. A headless Service
// without a selector gets RequireDualStack, because users may add endpoints of either family.
func (c *specUpdate) defaultPolicy() {
	if c.spec.Has("ipFamilyPolicy") { // validation rejects ""
		return
	}
	policy := c.oldSpec.String("ipFamilyPolicy")
	switch {
	case policy != "":
	case c.headlessWithoutSelector():
		policy = requireDualStack
	default:
		policy = singleStack
	}
	c.spec["ipFamilyPolicy"] = policy
}

// downgradeToSingleStack reduces a Service to one family if its new policy is SingleStack. With any
// other policy, removing the second address or family is an error.
func (c *specUpdate) downgradeToSingleStack(policy string) {
	for _, list := range []struct{ name, item string }{{"clusterIPs", "cluster IP"}, {"ipFamilies", "IP family"}} {
		now, was := c.spec.List(list.name), c.oldSpec.List(list.name)
		if policy == singleStack {
			if len(now) > 1 && tree.SemanticEqual(now, was) {
				c.spec[list.name] = slices.Clone(now[:1])
			}
			continue
		}
		if len(was) == 2 && len(now) == 1 && now[0] == was[0] {
			c.faults.Invalid("spec.ipFamilyPolicy", policy, "must be 'SingleStack' to release the secondary "+list.item)
		}
	}
}

func (c *specUpdate) rejectDualStack() {
	const begin = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
	if len(c.spec.List("clusterIPs")) == 2 {
		c.faults.Invalid("spec.ipFamilyPolicy", singleStack, begin+"cluster IPs are specified")
	}
	if len(c.spec.List("ipFamilies")) == 2 {
		c.faults.Invalid("spec.ipFamilyPolicy", singleStack, begin+"IP families are specified")
	}
}

func (c *specUpdate) inferFamilies() {
	families := slices.Clone(c.spec.List("ipFamilies"))
	for i, text := range c.spec.Strings("clusterIPs") {
		a, err := address.Parse(text)
		if i < len(families) || err != nil {
			continue
		}
		family := familyIPv4
		if a.Is6() {
			family = familyIPv6
		}
		if !c.hasFamily(family) {
			c.faults.Invalid(tree.IndexPath("spec.clusterIPs", i), c.spec["clusterIPs"], family+" is not configured on this cluster")
			continue
		}
		families = append(families, family)
	}
	if len(families) > 0 {
		c.spec["ipFamilies"] = families
	}
}

func (c *specUpdate) hasFamily(family string) bool {
	return slices.ContainsFunc(c.allocator.ranges, func(r Range) bool { return r.family() == family })
}

func (c *specUpdate) checkFamilies(policy string) {
	if policy == requireDualStack && len(c.allocator.ranges) < 2 {
		c.faults.Invalid("spec.ipFamilyPolicy", policy, "this cluster is not configured for dual-stack services")
	}
	for i, family := range c.spec.Strings("ipFamilies") {
		if !c.hasFamily(family) {
			c.faults.Invalid(tree.IndexPath("spec.ipFamilies", i), family, "not configured on this cluster")
		}
	}
}

// completeFamilies sets the default family if the spec has none. Unless the policy is SingleStack,
// it then adds a missing second family. both is set if the cluster is dual-stack.
func (c *specUpdate) completeFamilies(policy string, both bool) {
	families := slices.Clone(c.spec.List("ipFamilies"))
	if len(families) == 0 {
		families = append(families, c.allocator.ranges[0].family())
	}
	if policy != singleStack && both && len(families) == 1 {
		other := familyIPv6
		if families[0] == familyIPv6 {
			other = familyIPv4
		}
		families = append(families, other)
	}
	c.spec["ipFamilies"] = families
}
