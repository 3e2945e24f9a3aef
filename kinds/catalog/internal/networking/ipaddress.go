package networking

import (
	"fmt"
	"net/netip"

	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func ipAddressRules() schema.Rules {
	return schema.Rules{Default: ensureSpec, Validate: validateIPAddress}
}

// validateIPAddress checks an allocated address: the name of the object is the address.
func validateIPAddress(obj tree.Tree, faults *schema.Faults) {
	if name := obj.Object("metadata").String("name"); name != "" {
		a, err := netip.ParseAddr(name)
		switch {
		case err != nil || a.Zone() != "":
			faults.Invalid("metadata.name", name, rules.IP("")[0])
		case a.String() != name:
			faults.Invalid("metadata.name", name, fmt.Sprintf("must be in canonical form (%q)", a))
		}
	}
	const path = "spec.parentRef"
	ref := obj.Object("spec", "parentRef")
	if ref == nil {
		return // the declaration requires it
	}
	field.Format(ref, "group", path, faults, rules.Subdomain)
	field.Require(ref, path, faults, "resource", "name")
	for _, name := range []string{"resource", "name", "namespace"} {
		field.Format(ref, name, path, faults, rules.PathSegment)
	}
}
