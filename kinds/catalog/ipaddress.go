package catalog

import (
	"fmt"
	"net/netip"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func ipAddressRules() schema.Rules {
	return schema.Rules{Default: growSpec, Validate: validateIPAddress}
}

// validateIPAddress checks an address that is taken: its name is the address.
func validateIPAddress(obj schema.Tree, faults *schema.Faults) {
	if name := rules.Text(rules.Sub(obj, "metadata"), "name"); name != "" {
		a, err := netip.ParseAddr(name)
		switch {
		case err != nil || a.Zone() != "":
			faults.Invalid("metadata.name", name, rules.IP("")[0])
		case a.String() != name:
			faults.Invalid("metadata.name", name, fmt.Sprintf("must be in canonical form (%q)", a))
		}
	}
	const path = "spec.parentRef"
	ref := rules.Sub(obj, "spec", "parentRef")
	if ref == nil {
		return // the plan reports it
	}
	formatted(ref, "group", path, faults, rules.Subdomain)
	required(ref, path, faults, "resource", "name")
	for _, name := range []string{"resource", "name", "namespace"} {
		formatted(ref, name, path, faults, rules.PathSegment)
	}
}
