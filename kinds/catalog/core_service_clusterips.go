package catalog

import (
	"fmt"
	"net/netip"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// The families of addresses, and the policies by which a Service has one or both.
const (
	familyIPv4  = "IPv4"
	familyIPv6  = "IPv6"
	singleStack = "SingleStack"
)

// ValidateServiceClusterIPs checks clusterIP, clusterIPs and ipFamilies of a Service that is no
// ExternalName against each other. What is free or in range is not its matter.
func ValidateServiceClusterIPs(spec tree.Tree, faults *schema.Faults) {
	const path = "spec.clusterIPs"
	ip, ips, items := spec.String("clusterIP"), spec.Strings("clusterIPs"), spec["clusterIPs"]
	switch {
	case ip != "" && len(ips) == 0:
		faults.Required(path)
	case ip != "" && ips[0] != ip:
		faults.Invalid(path, items, "first value must match `clusterIP`")
	case ip == "" && len(ips) > 0:
		faults.Invalid(path, items, "must be empty when `clusterIP` is not specified")
	}
	families := spec.Strings("ipFamilies")
	validateFamilies(families, faults)
	if !validateClusterIPs(ips, items, faults) {
		return
	}
	if len(ips) == 2 && isIPv6(ips[0]) == isIPv6(ips[1]) {
		faults.Invalid(path, items, "may specify no more than one IP for each IP family")
	}
	for i, ip := range ips[:min(len(ips), len(families))] {
		if ip != noClusterIP && familyOf(ip) != families[i] {
			faults.Invalid(tree.IndexPath(path, i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", families[i], i))
		}
	}
}

func validateFamilies(families []string, faults *schema.Faults) {
	seen := rules.Seen{}
	for i, f := range families {
		at := tree.IndexPath("spec.ipFamilies", i)
		if f != familyIPv4 && f != familyIPv6 {
			faults.NotSupported(at, f, []string{familyIPv4, familyIPv6})
		}
		if seen.Repeats(f) {
			faults.Duplicate(at, f)
		}
	}
}

// validateClusterIPs checks each address, and says whether they can be compared.
func validateClusterIPs(ips []string, items any, faults *schema.Faults) (comparable bool) {
	const path = "spec.clusterIPs"
	comparable = true
	for i, ip := range ips {
		if i == 0 && ip == noClusterIP {
			if len(ips) > 1 {
				faults.Invalid(path, items, "'None' must be the first and only value")
				comparable = false
			}
			continue
		}
		for _, msg := range rules.IP(ip) {
			faults.Invalid(tree.IndexPath(path, i), ip, msg)
			comparable = false
		}
	}
	if len(ips) > 2 {
		faults.Invalid(path, items, "may only hold up to 2 values")
	}
	return comparable
}

func isIPv6(ip string) bool {
	a, err := netip.ParseAddr(ip)
	return err == nil && a.Is6() && !a.Is4In6()
}

func familyOf(ip string) string {
	if isIPv6(ip) {
		return familyIPv6
	}
	return familyIPv4
}

// validateClusterIPsUpdate allows a second address to come and to go. The first one, and
// whether there is one, stays, but on the way from or to an ExternalName.
func validateClusterIPsUpdate(spec, was tree.Tree, faults *schema.Faults) {
	if !ServiceNeedsClusterIP(spec) || !ServiceNeedsClusterIP(was) || ServiceIsHeadless(spec) && ServiceIsHeadless(was) {
		return
	}
	validateIPListUpdate(spec, was, "clusterIPs", "clusterIP", faults)
	validateIPListUpdate(spec, was, "ipFamilies", "ipFamily", faults)
}

// validateIPListUpdate checks one of the two lists; item is what one element is called.
func validateIPListUpdate(spec, was tree.Tree, name, item string, faults *schema.Faults) {
	now, old := spec.Strings(name), was.Strings(name)
	path := "spec." + name
	if len(now) == 0 && len(old) > 0 {
		faults.Invalid(tree.IndexPath(path, 0), spec.List(name), "primary "+item+" can not be unset")
		return
	}
	compared := len(old)
	if len(now) != len(old) {
		compared = min(len(old), 1)
	}
	for i := range compared {
		if now[i] != old[i] {
			faults.Invalid(tree.IndexPath(path, i), spec.List(name), "may not change once set")
		}
	}
	if policy := spec.String("ipFamilyPolicy"); len(old) > 1 && len(now) == 1 && policy != singleStack {
		faults.Invalid("spec.ipFamilyPolicy", policy, "must be set to 'SingleStack' when releasing the secondary "+item)
	}
}
