package core

import (
	"github.com/troupe-api/troupe/kinds/api/core/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateClusterIPsUpdate allows adding and removing the secondary address. DNS caches and
// containers keep the primary address, so it may change only if the type changes to or from
// ExternalName. ValidateClusterIPs reports malformed addresses and families.
func validateClusterIPsUpdate(spec, was tree.Tree, faults *schema.Faults) {
	if !service.NeedsClusterIP(spec) || !service.NeedsClusterIP(was) || service.IsHeadless(spec) && service.IsHeadless(was) {
		return
	}
	var malformed schema.Faults
	if service.ValidateClusterIPs(spec, &malformed); len(malformed.List) > 0 {
		return
	}
	validateIPListUpdate(spec, was, "clusterIPs", "clusterIP", faults)
	validateIPListUpdate(spec, was, "ipFamilies", "ipFamily", faults)
}

// validateIPListUpdate validates an update of the list field name. item describes an item in
// messages. Lists of the same length must be equal. Otherwise only their first items must be equal.
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
	// With a dual-stack policy, the server would allocate a secondary address again.
	if policy := spec.String("ipFamilyPolicy"); len(old) > 1 && len(now) == 1 && policy != service.SingleStack {
		faults.Invalid("spec.ipFamilyPolicy", policy, "must be set to 'SingleStack' when releasing the secondary "+item)
	}
}
