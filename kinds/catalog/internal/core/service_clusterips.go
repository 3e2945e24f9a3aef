package core

import (
	"github.com/troupe-api/troupe/kinds/catalog/service"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// validateClusterIPsUpdate allows the second address to be added and removed. The first one cannot change,
// except when the type becomes or was ExternalName. The first address is in the DNS caches and the
// environment of running containers, which nothing could correct. A change of the type to or from
// ExternalName replaces what the name stands for anyway.
//
// Where the addresses and families contradict each other, that alone is told.
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

// validateIPListUpdate checks the list name. item is the word for one element in messages. With an equal
// number of items all must be the same. If one was added or removed, only the first is compared.
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
	// A policy that still prefers two families would have the server allocate the released address again at
	// once.
	if policy := spec.String("ipFamilyPolicy"); len(old) > 1 && len(now) == 1 && policy != service.SingleStack {
		faults.Invalid("spec.ipFamilyPolicy", policy, "must be set to 'SingleStack' when releasing the secondary "+item)
	}
}
