package endpoints

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// maxEndpointsPerSlice limits the endpoints of an EndpointSlice. A higher limit would mean fewer
// slices, but each change would send more bytes to every node.
const maxEndpointsPerSlice = 100

// A slice is an existing or new EndpointSlice. complete copies endpoints into object before the
// slice is written.
type slice struct {
	name      string // "" for a new one
	object    tree.Tree
	endpoints []tree.Tree
	changed   bool
}

// identity returns a key for an endpoint. The key includes the targetRef, because a recreated Pod
// with the same address is a different endpoint.
func identity(endpoint tree.Tree) string {
	b, err := json.Marshal([]any{endpoint["addresses"], endpoint["targetRef"]})
	if err != nil {
		panic(err) // trees always encode
	}
	return string(b)
}

// portsKey returns a key for a set of ports, regardless of order. All endpoints of a slice share
// its ports.
func portsKey(ports []tree.Tree) string {
	var keys []string
	for _, p := range ports {
		number, _ := p.Int("port")
		b, err := json.Marshal([]any{p.String("name"), number, p.String("protocol"), p.String("appProtocol")})
		if err != nil {
			panic(err)
		}
		keys = append(keys, string(b))
	}
	slices.Sort(keys)
	b, _ := json.Marshal(keys)
	return string(b)
}

// pack distributes the wanted endpoints so that few slices change, because each changed slice is
// sent to every node. Existing endpoints stay in their slice. New endpoints first fill slices that
// change anyway, fullest first, and then the best-fitting slice or new slices. emptied contains the
// slices that became empty.
//
// most is the capacity of a slice. If several endpoints have the same identity, the last one wins.
// All slices must have the ports of the wanted endpoints.
func pack(existing []*slice, wanted []tree.Tree, most int) (kept, created []*slice, emptied []*slice) {
	missing := make(map[string]tree.Tree, len(wanted))
	order := make([]string, 0, len(wanted))
	for _, e := range wanted {
		id := identity(e)
		if _, twice := missing[id]; !twice {
			order = append(order, id)
		}
		missing[id] = e
	}
	for _, s := range existing {
		if s.retain(missing); len(s.endpoints) == 0 {
			emptied = append(emptied, s)
		} else {
			kept = append(kept, s)
		}
	}
	var rest []tree.Tree
	for _, id := range order {
		if e, ok := missing[id]; ok {
			rest = append(rest, e)
		}
	}
	rest = fillChanged(kept, rest, most)
	for len(rest) > 0 {
		s := bestFit(kept, len(rest), most)
		if s == nil {
			s = &slice{}
			created = append(created, s)
		}
		rest = s.take(rest, most)
	}
	return kept, created, emptied
}

// retain keeps and updates the endpoints of a slice that are still wanted, and removes them from
// missing.
func (s *slice) retain(missing map[string]tree.Tree) {
	var kept []tree.Tree
	for _, old := range s.endpoints {
		id := identity(old)
		now, wanted := missing[id]
		if !wanted {
			s.changed = true
			continue
		}
		delete(missing, id)
		if !tree.SemanticEqual(old, now) {
			s.changed = true
		}
		kept = append(kept, now)
	}
	s.endpoints = kept
}

func (s *slice) take(endpoints []tree.Tree, most int) []tree.Tree {
	n := min(len(endpoints), most-len(s.endpoints))
	if n <= 0 {
		return endpoints
	}
	s.endpoints, s.changed = append(s.endpoints, endpoints[:n]...), true
	return endpoints[n:]
}

// fillChanged adds endpoints to the slices that change anyway, fullest first, and returns those
// that do not fit.
func fillChanged(kept []*slice, rest []tree.Tree, most int) []tree.Tree {
	var changed []*slice
	for _, s := range kept {
		if s.changed {
			changed = append(changed, s)
		}
	}
	slices.SortStableFunc(changed, func(a, b *slice) int { return cmp.Compare(len(b.endpoints), len(a.endpoints)) })
	for _, s := range changed {
		rest = s.take(rest, most)
	}
	return rest
}

// bestFit returns the fullest unchanged slice with room for all n endpoints, or nil. It ignores
// changed slices, because fillChanged has already filled them. It also returns nil if the endpoints
// fill an entire new slice.
func bestFit(kept []*slice, n, most int) *slice {
	if n >= most {
		return nil
	}
	var best *slice
	for _, s := range kept {
		if !s.changed && len(s.endpoints)+n <= most && (best == nil || len(s.endpoints) > len(best.endpoints)) {
			best = s
		}
	}
	return best
}

func without(t tree.Tree, keys ...string) tree.Tree {
	if t = maps.Clone(t); t == nil {
		t = tree.Tree{}
	}
	for _, key := range keys {
		delete(t, key)
	}
	return t
}
