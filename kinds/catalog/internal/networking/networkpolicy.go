package networking

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// networkPolicyStrategy leaves it to network plugins what a policy does; the server only sees to it
// that all of them read the same.
type networkPolicyStrategy struct {
	family.AlwaysWarns
	addresses warning.Addresses
}

// Default sets policyTypes: Ingress always, and Egress if there are egress rules.
//
// The field decides what a policy without rules means: an empty list of rules isolates the Pods in that direction. So
// it is filled in and stored, and later readers do not have to guess.
func (networkPolicyStrategy) Default(obj tree.Tree) {
	spec := obj.EnsureObject("spec")
	if len(spec.List("policyTypes")) > 0 {
		return
	}
	types := []any{"Ingress"}
	if len(spec.List("egress")) > 0 {
		types = append(types, "Egress")
	}
	spec["policyTypes"] = types
}

// An exception must be smaller than the range: an equal one would leave nothing, and one outside would have no effect
// that its author could see.
func validateIPBlock(b tree.Tree, at string, faults *schema.Faults) {
	cidr := b.String("cidr")
	whole, err := address.ParsePrefix(cidr)
	if err != nil {
		return // the declaration requires a range
	}
	for i, e := range b.Strings("except") {
		path := tree.IndexPath(at+".except", i)
		part, err := address.ParsePrefix(e)
		if err != nil {
			for _, msg := range rules.CIDR(e) {
				faults.Invalid(path, e, msg)
			}
			continue
		}
		if !whole.Contains(part.Addr()) || writtenLength(e) <= writtenLength(cidr) {
			faults.Invalid(path, e, "must be a strict subset of `cidr`")
		}
	}
}

// writtenLength is the number behind the slash of a range. Of a range of IPv4 in the form of IPv6 it counts the bits before
// the address of IPv4, too, and is compared so.
func writtenLength(cidr string) int {
	_, bits, _ := strings.Cut(cidr, "/")
	n, err := strconv.Atoi(bits)
	if err != nil {
		return -1 // address.ParsePrefix has refused it
	}
	return n
}
