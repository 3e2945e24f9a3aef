package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateClusterIPsUpdate allows a second address to come and to go. The first one, and
// whether there is one, stays, but on the way from or to an ExternalName.
func validateClusterIPsUpdate(spec, was tree.Tree, faults *schema.Faults) {
	if !service.NeedsClusterIP(spec) || !service.NeedsClusterIP(was) || service.IsHeadless(spec) && service.IsHeadless(was) {
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
	if policy := spec.String("ipFamilyPolicy"); len(old) > 1 && len(now) == 1 && policy != service.SingleStack {
		faults.Invalid("spec.ipFamilyPolicy", policy, "must be set to 'SingleStack' when releasing the secondary "+item)
	}
}
