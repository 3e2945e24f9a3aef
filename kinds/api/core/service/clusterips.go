package service

import (
	"fmt"
	"slices"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// IP families, and the ipFamilyPolicy of Services with only one IP family.
const (
	IPv4        = "IPv4"
	IPv6        = "IPv6"
	SingleStack = "SingleStack"
)

// ValidateClusterIPs checks that clusterIP, clusterIPs and ipFamilies of a Service are consistent.
// The type must not be ExternalName. Allocation checks the range and availability of the addresses.
//
// clusterIP equals the first of clusterIPs. A dual-stack Service has one address of each family, in
// the order of ipFamilies:
//
//	{"clusterIP":"10.0.0.1","clusterIPs":["10.0.0.1","fd00::1"],"ipFamilies":["IPv4","IPv6"]}
//	{"clusterIP":"None","clusterIPs":["None"]}    headless: no address at all
func ValidateClusterIPs(spec tree.Tree, faults *schema.Faults) {
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
	if len(ips) > 1 && !slices.ContainsFunc(ips, func(ip string) bool { return FamilyOf(ip) != FamilyOf(ips[0]) }) {
		faults.Invalid(path, items, "may specify no more than one IP for each IP family")
	}
	for i, ip := range ips[:min(len(ips), len(families))] {
		if ip != NoClusterIP && isFamily(families[i]) && FamilyOf(ip) != families[i] {
			faults.Invalid(tree.IndexPath(path, i), ip, fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`", families[i], i))
		}
	}
}

func validateFamilies(families []string, faults *schema.Faults) {
	seen := rules.Seen{}
	for i, f := range families {
		at := tree.IndexPath("spec.ipFamilies", i)
		if !isFamily(f) {
			faults.NotSupported(at, f, []string{IPv4, IPv6})
		}
		if seen.Repeats(f) {
			faults.Duplicate(at, f)
		}
	}
}

// validateClusterIPs checks each address. It reports whether all are valid, so that their families
// can be compared with ipFamilies.
func validateClusterIPs(ips []string, items any, faults *schema.Faults) (comparable bool) {
	const path = "spec.clusterIPs"
	comparable = true
	for i, ip := range ips {
		if i == 0 && ip == NoClusterIP {
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

func isFamily(f string) bool { return f == IPv4 || f == IPv6 }

// FamilyOf returns the IP family of an address.
func FamilyOf(ip string) string {
	if address.IsIPv6(ip) {
		return IPv6
	}
	return IPv4
}
