package networking

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

type networkPolicyStrategy struct{ schema.AlwaysWarns }

// Default sets policyTypes to Ingress, and adds Egress if there are egress rules. The value is
// stored, because a policy without rules isolates Pods in the listed directions.
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

// validateIPBlock requires each exception to be a strict subset of the range. Otherwise it would
// exclude everything or nothing.
func validateIPBlock(b tree.Tree, at string, faults *schema.Faults) {
	cidr := b.String("cidr")
	whole, err := address.ParsePrefix(cidr)
	if err != nil {
		return // a declarative rule requires a range
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

// writtenLength returns the prefix length as written. In an IPv4-mapped IPv6 range, it includes the
// bits before the IPv4 address.
func writtenLength(cidr string) int {
	_, bits, _ := strings.Cut(cidr, "/")
	n, err := strconv.Atoi(bits)
	if err != nil {
		return -1 // address.ParsePrefix rejects it
	}
	return n
}
