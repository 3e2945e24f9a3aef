package networking

import (
	"github.com/troupe-api/troupe/kinds/api/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns about unusual address ranges. Indexes count null items, so lists are walked by
// position.
func (s networkPolicyStrategy) Warnings(obj, _ tree.Tree) (texts []string) {
	spec := obj.Object("spec")
	for _, way := range [...]struct{ list, peers string }{{"ingress", "from"}, {"egress", "to"}} {
		for i, v := range spec.List(way.list) {
			rule, _ := v.(tree.Tree)
			for j, v := range rule.List(way.peers) {
				peer, _ := v.(tree.Tree)
				for _, text := range blockWarnings(s.addresses, peer.Object("ipBlock")) {
					at := tree.IndexPath(tree.IndexPath("spec."+way.list, i)+"."+way.peers, j)
					texts = append(texts, at+".ipBlock."+text)
				}
			}
		}
	}
	return texts
}

// blockWarnings warns about the ranges of a block, with paths relative to it. Programs read a range
// with bits beyond its prefix as a single address or as the whole range.
func blockWarnings(addresses warning.Addresses, block tree.Tree) (texts []string) {
	for _, text := range addresses.CIDR(block.String("cidr")) {
		texts = append(texts, "cidr"+text)
	}
	return addresses.AppendCIDRs(texts, block.List("except"), warning.At("", "except"))
}
