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
	port    tree.Tree // nil if there is none
	ready   bool
}

// addressKey returns a key for an address. The key includes the target's uid, because two objects
// may share an IP.
func addressKey(address tree.Tree) string {
	return address.String("ip") + " " + address.Object("targetRef").String("uid")
}

func textOf(t tree.Tree) string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // trees always encode
	}
	return string(b)
}

type portGroup struct {
	port  tree.Tree
	ready map[string]bool // by addressKey
}

// subsetsOf packs backends into the subsets of an Endpoints object. Ports with the same addresses
// share a subset. The result does not depend on the order of backends. An address that is both
// ready and not ready at a port counts as not ready.
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
	shared := map[string][]*portGroup{} // by addressText
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

// addressText returns the same text for groups that have the same addresses with the same
// readiness.
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

// newSubset returns the subset for groups, which must have the same addresses.
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

const maxAddresses = 1000

// truncate reduces subsets to maxAddresses addresses and reports whether it removed any. It prefers
// ready addresses. Each subset keeps its proportional share, rounded up as far as possible.
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
