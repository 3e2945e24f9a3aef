package pod

import (
	"slices"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateStatusIPs checks new addresses of a Pod and of its host.
func validateStatusIPs(status, was tree.Tree, faults *schema.Faults) {
	validateIPs(status, was, "podIPs", faults)
	if hosts := status.Objects("hostIPs"); len(hosts) > 0 && hosts[0].String("ip") != status.String("hostIP") {
		faults.Invalid("status.hostIPs[0].ip", hosts[0].String("ip"), "must be equal to `hostIP`")
	}
	validateIPs(status, was, "hostIPs", faults)
}

// validateIPs checks the new addresses of a list, with at most one per family.
func validateIPs(status, was tree.Tree, list string, faults *schema.Faults) {
	path, before := "status."+list, was.Objects(list)
	families := map[bool]int{}
	for i, item := range status.Objects(list) {
		ip := item.String("ip")
		families[address.IsIPv6(ip)]++
		if slices.ContainsFunc(before, func(b tree.Tree) bool { return b.String("ip") == ip }) {
			continue
		}
		for _, msg := range rules.IP(ip) {
			faults.Invalid(tree.IndexPath(path, i), ip, msg)
		}
	}
	if families[true] > 1 || families[false] > 1 {
		faults.Invalid(path, status[list], "may specify no more than one IP for each IP family")
	}
}
