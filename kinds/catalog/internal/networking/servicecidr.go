package networking

import (
	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type serviceCIDRStrategy struct {
	schema.DefaultStrategy
	family.EmptyStatusOnCreate
}

// Validate allows one range, or one of each family. Ranges are in canonical form only, because
// controllers compare them as text.
func (serviceCIDRStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	const path = "spec.cidrs"
	spec := obj.Object("spec")
	cidrs := spec.Strings("cidrs")
	switch {
	case len(cidrs) == 0:
		faults.Required(path, "at least one CIDR required")
		return
	case len(cidrs) > 2:
		faults.Invalid(path, spec, "may only hold up to 2 values")
		return
	}
	var v6 []bool
	for i, c := range cidrs {
		for _, msg := range rules.CanonicalCIDR(c) {
			faults.Invalid(tree.IndexPath(path, i), c, msg)
		}
		if p, err := address.ParsePrefix(c); err == nil {
			v6 = append(v6, p.Addr().Is6())
		}
	}
	if len(v6) == 2 && v6[0] == v6[1] {
		faults.Invalid(path, spec["cidrs"], "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64")
	}
}

// ValidateUpdate allows only that a second range, of the other family, is added.
//
// Addresses that were given out lie in the first range, so it can be neither changed nor dropped. A second family is
// how a cluster becomes dual-stack later.
func (serviceCIDRStrategy) ValidateUpdate(obj, old tree.Tree, faults *schema.Faults) {
	const path = "spec.cidrs"
	now, was := obj.Object("spec").Strings("cidrs"), old.Object("spec").Strings("cidrs")
	if len(now) != len(was) && (len(now) != 2 || len(was) != 1) {
		faults.Invalid(path, obj.Object("spec").List("cidrs"), "field is immutable")
		return
	}
	for i := range was {
		if now[i] != was[i] {
			faults.Invalid(tree.IndexPath(path, i), now[i], "field is immutable")
		}
	}
}
