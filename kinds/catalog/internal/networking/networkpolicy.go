package networking

import (
	"strconv"
	"strings"

	"github.com/troupe-api/troupe/kinds/address"
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
	"github.com/troupe-api/troupe/kinds/catalog/internal/field"
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

// More than two types can only be repetitions, and are refused before each is looked at.
func (networkPolicyStrategy) Validate(obj, _ tree.Tree, faults *schema.Faults) {
	spec := obj.Object("spec")
	field.LabelSelector(spec.Object("podSelector"), "spec.podSelector", faults)
	for _, way := range []struct{ list, peers string }{{"ingress", "from"}, {"egress", "to"}} {
		for i, r := range spec.Objects(way.list) {
			at := tree.IndexPath("spec."+way.list, i)
			for j, p := range r.Objects("ports") {
				validatePolicyPort(p, tree.IndexPath(at+".ports", j), faults)
			}
			for j, p := range r.Objects(way.peers) {
				validatePeer(p, tree.IndexPath(at+"."+way.peers, j), faults)
			}
		}
	}
	types := spec.Strings("policyTypes")
	if len(types) > 2 {
		faults.Invalid("spec.policyTypes", spec["policyTypes"], "may not specify more than two policyTypes")
		return
	}
	for i, t := range types {
		if t != "Ingress" && t != "Egress" {
			faults.NotSupported(tree.IndexPath("spec.policyTypes", i), t, []string{"Ingress", "Egress"})
		}
	}
}

// A range needs a number to begin with: a named port can be another number in every Pod.
func validatePolicyPort(p tree.Tree, at string, faults *schema.Faults) {
	end, ranged := p.Int("endPort")
	if !ranged {
		return
	}
	switch port := p["port"].(type) {
	case nil:
		faults.Invalid(at+".endPort", end, "may not be specified when `port` is not specified")
	case string:
		faults.Invalid(at+".endPort", end, "may not be specified when `port` is non-numeric")
	case int64:
		if end < port {
			faults.Invalid(at+".endPort", port, "must be greater than or equal to `port`") // the value is that of port, as clients know it
		}
		field.PortNumber(end, at+".endPort", faults)
	}
}

// validatePeer checks a peer: Pods by selectors, or a range of addresses.
//
// Addresses and selectors exclude each other in one peer. Together they could mean both or either, and for a policy
// that is the difference between open and closed.
func validatePeer(p tree.Tree, at string, faults *schema.Faults) {
	selectors := 0
	for _, name := range []string{"podSelector", "namespaceSelector"} {
		if p.Has(name) {
			selectors++
			field.LabelSelector(p.Object(name), at+"."+name, faults)
		}
	}
	block := p.Object("ipBlock")
	switch {
	case block == nil && selectors == 0:
		faults.Required(at, "must specify a peer")
	case block != nil:
		validateIPBlock(block, at+".ipBlock", faults)
		if selectors > 0 {
			faults.Forbidden(at, "may not specify both ipBlock and another peer")
		}
	}
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
