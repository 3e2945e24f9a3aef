package endpoints

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A backend is one address at one port of an Endpoints object.
type backend struct {
	address tree.Tree
	port    tree.Tree // nil: none is named
	ready   bool
}

// addressKey tells addresses apart. Two objects may share an IP.
func addressKey(address tree.Tree) string {
	return address.String("ip") + " " + address.Object("targetRef").String("uid")
}

// textOf is a tree as text, by which it is compared and ordered.
func textOf(t tree.Tree) string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // trees always encode
	}
	return string(b)
}

// A portGroup is the addresses that are ready, or not, at one port.
type portGroup struct {
	port  tree.Tree
	ready map[string]bool // by addressKey
}

// subsetsOf packs backends into the subsets of an Endpoints object: ports that the same addresses serve share one subset.
// The outcome depends on the backends only, not on their order. Of an address that is ready and not ready at one port it
// counts that it is not.
func subsetsOf(backends []backend) []any {
	addresses := map[string]tree.Tree{}
	groups := map[string]*portGroup{}
	for _, b := range backends {
		key, port := addressKey(b.address), textOf(b.port)
		if addresses[key] == nil {
			addresses[key] = b.address
		}
		g := groups[port]
		if g == nil {
			g = &portGroup{port: b.port, ready: map[string]bool{}}
			groups[port] = g
		}
		if was, known := g.ready[key]; !known || was {
			g.ready[key] = b.ready
		}
	}
	shared := map[string][]*portGroup{} // by the text of their addresses
	for _, g := range groups {
		text := g.addressText()
		shared[text] = append(shared[text], g)
	}
	texts := make([]string, 0, len(shared))
	for text := range shared {
		texts = append(texts, text)
	}
	slices.Sort(texts)
	var subsets []any
	for _, text := range texts {
		subsets = append(subsets, newSubset(shared[text], addresses))
	}
	return subsets
}

// addressText is the same for groups with the same addresses in the same state.
func (g *portGroup) addressText() string {
	var keys []string
	for key, ready := range g.ready {
		if !ready {
			key += " not ready"
		}
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return strings.Join(keys, "\n")
}

// newSubset is the subset of ports that share their addresses.
func newSubset(groups []*portGroup, addresses map[string]tree.Tree) tree.Tree {
	var keys []string
	for key := range groups[0].ready {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	subset := tree.Tree{}
	for _, key := range keys {
		list := "addresses"
		if !groups[0].ready[key] {
			list = "notReadyAddresses"
		}
		subset[list] = append(subset.List(list), any(addresses[key]))
	}
	slices.SortFunc(groups, func(a, b *portGroup) int { return strings.Compare(textOf(a.port), textOf(b.port)) })
	var ports []any
	for _, g := range groups {
		if g.port != nil {
			ports = append(ports, g.port)
		}
	}
	if ports != nil {
		subset["ports"] = ports
	}
	return subset
}

// backendsOf are the backends of the subsets of an Endpoints object.
func backendsOf(subsets []tree.Tree) []backend {
	var all []backend
	for _, subset := range subsets {
		ports := subset.Objects("ports")
		if len(ports) == 0 {
			ports = []tree.Tree{nil}
		}
		for _, port := range ports {
			for _, a := range subset.Objects("addresses") {
				all = append(all, backend{a, port, true})
			}
			for _, a := range subset.Objects("notReadyAddresses") {
				all = append(all, backend{a, port, false})
			}
		}
	}
	return all
}

// maxAddresses is how many addresses an Endpoints object has at most.
const maxAddresses = 1000

// truncate leaves at most maxAddresses in subsets, and tells whether there were more. Ready addresses go before others,
// and each subset keeps its share, rounded up, as far as there is room.
func truncate(subsets []any) bool {
	ready, notReady := 0, 0
	for _, s := range subsets {
		ready += len(s.(tree.Tree).List("addresses"))
		notReady += len(s.(tree.Tree).List("notReadyAddresses"))
	}
	if ready+notReady <= maxAddresses {
		return false
	}
	list, total, room := "notReadyAddresses", notReady, maxAddresses-ready
	if ready > maxAddresses {
		list, total, room = "addresses", ready, maxAddresses
	}
	left := room
	for _, s := range subsets {
		subset := s.(tree.Tree)
		if list == "addresses" {
			delete(subset, "notReadyAddresses")
		}
		addresses := subset.List(list)
		n := min((len(addresses)*room+total-1)/total, left, len(addresses))
		left -= n
		if subset[list] = addresses[:n]; n == 0 {
			delete(subset, list)
		}
	}
	return true
}
