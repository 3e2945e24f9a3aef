package networking

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/warning"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns of unusual ranges of addresses.
//
// Lists are walked by position and not by object, so that the index in the text is right even where an element is
// null.
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

// blockWarnings warns of the ranges of a block; their paths begin below it. A range with bits set behind
// its prefix is read as a single address by some programs and as the whole range by others.
func blockWarnings(addresses warning.Addresses, block tree.Tree) (texts []string) {
	for _, text := range addresses.CIDR(block.String("cidr")) {
		texts = append(texts, "cidr"+text)
	}
	return addresses.AppendCIDRs(texts, block.List("except"), warning.At("", "except"))
}
