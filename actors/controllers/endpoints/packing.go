package endpoints

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// maxEndpointsPerSlice is how many endpoints one EndpointSlice takes.
// Larger slices mean fewer objects, but more bytes to every node for each change of one endpoint.
const maxEndpointsPerSlice = 100

// A slice is an EndpointSlice that exists, or is to be.
// The object is the tree without regard to its endpoints, which complete puts in before it is written.
type slice struct {
	name      string // "": it does not exist
	object    tree.Tree
	endpoints []tree.Tree
	changed   bool
}

// identity tells endpoints apart: by what they point to, and their addresses.
// A Pod that was deleted and made anew under the same address has another uid in its targetRef, and is another
// endpoint.
func identity(endpoint tree.Tree) string {
	b, err := json.Marshal([]any{endpoint["addresses"], endpoint["targetRef"]})
	if err != nil {
		panic(err) // trees always encode
	}
	return string(b)
}

// portsKey tells groups of ports apart. The order of ports does not count.
// A slice has one list of ports for all its endpoints, so that endpoints with different ports cannot share one.
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

// pack puts the wanted endpoints into slices, of which it changes as few as it can: each change of a slice goes to every
// node. Endpoints stay where they are; what is new goes into slices that change anyway, the fullest first; a rest goes into
// one that it fills best, or into new ones. Slices that are left empty are not in the result.
//
// most is the capacity of a slice. Of endpoints with the same identity the last one counts. All slices must have the
// ports of the wanted endpoints: the caller groups them by portsKey.
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

// retain keeps those endpoints of a slice that are wanted, as they are wanted, and takes them out of what is missing.
// An endpoint whose conditions have changed stays in its slice and is replaced there.
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

// take puts as many endpoints into a slice as it has room for, and returns the rest.
func (s *slice) take(endpoints []tree.Tree, most int) []tree.Tree {
	n := min(len(endpoints), most-len(s.endpoints))
	if n <= 0 {
		return endpoints
	}
	s.endpoints, s.changed = append(s.endpoints, endpoints[:n]...), true
	return endpoints[n:]
}

// fillChanged fills the slices that change anyway, the fullest first.
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

// bestFit is the unchanged slice that n more endpoints fill best; nil if none has room for all of them.
// Changed slices need no look: fillChanged has filled them, or nothing is left to place. For a full slice or more a
// new one is made, as no existing one with endpoints in it could take all of them.
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

// without is a copy of a tree that lacks some keys.
// The copy is shallow: what is below the keys is shared and must not be changed. The copy of nil is nil.
func without(t tree.Tree, keys ...string) tree.Tree {
	if t = maps.Clone(t); t == nil {
		t = tree.Tree{}
	}
	for _, key := range keys {
		delete(t, key)
	}
	return t
}
