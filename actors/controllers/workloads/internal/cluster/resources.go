package cluster

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Resources are amounts of what nodes have and Pods ask for, in thousandths. The two that every Pod asks for have fields
// of their own, since a map for each of many Pods would be most of their memory.
type Resources struct {
	CPU, Memory int64
	Others      map[string]int64 // nil for none; shared, never changed
}

// readResources reads an object of quantities. What cannot be read, or is too large for 64 bits, counts as 0.
func readResources(t tree.Tree) (r Resources) {
	for name := range t {
		n, _, _ := quantity.Thousandths(t.String(name))
		switch name {
		case "cpu":
			r.CPU = n
		case "memory":
			r.Memory = n
		default:
			if r.Others == nil {
				r.Others = map[string]int64{}
			}
			r.Others[name] = n
		}
	}
	return r
}

// Plus is the sum of two.
func (r Resources) Plus(o Resources) Resources {
	return r.merge(o, func(a, b int64) int64 { return a + b })
}

// Minus is the difference.
func (r Resources) Minus(o Resources) Resources {
	return r.merge(o, func(a, b int64) int64 { return a - b })
}

func (r Resources) merge(o Resources, f func(a, b int64) int64) Resources {
	r.CPU, r.Memory = f(r.CPU, o.CPU), f(r.Memory, o.Memory)
	if len(o.Others) > 0 {
		others := make(map[string]int64, len(r.Others)+len(o.Others))
		maps.Copy(others, r.Others)
		for name, n := range o.Others {
			others[name] = f(others[name], n)
		}
		r.Others = others
	}
	return r
}

// Lacks is a resource of which there is less than is asked for; "" if there is enough of all.
func (r Resources) Lacks(asked Resources) string {
	switch {
	case asked.CPU > max(r.CPU, 0):
		return "cpu"
	case asked.Memory > max(r.Memory, 0):
		return "memory"
	}
	for _, name := range slices.Sorted(maps.Keys(asked.Others)) {
		if asked.Others[name] > max(r.Others[name], 0) {
			return name
		}
	}
	return ""
}

// Differs tells whether two are not the same.
func (r Resources) Differs(o Resources) bool {
	return r.CPU != o.CPU || r.Memory != o.Memory || !maps.Equal(r.Others, o.Others)
}

func (r Resources) most(o Resources) Resources {
	return r.merge(o, func(a, b int64) int64 { return max(a, b) })
}

// requestsOf is what a Pod asks of its node: the sum of what its containers ask for, or more if one that initializes it
// needs more. Sidecars count beside both. What is asked for the Pod as a whole counts instead.
func requestsOf(podSpec tree.Tree) Resources {
	var containers, sidecars, initializing Resources
	for _, c := range podSpec.Objects("containers") {
		containers = containers.Plus(readResources(c.Object("resources", "requests")))
	}
	for _, c := range podSpec.Objects("initContainers") {
		asks := readResources(c.Object("resources", "requests"))
		if c.String("restartPolicy") == "Always" {
			sidecars = sidecars.Plus(asks)
			initializing = initializing.most(sidecars)
		} else {
			initializing = initializing.most(sidecars.Plus(asks))
		}
	}
	all := containers.Plus(sidecars).most(initializing)
	if whole := podSpec.Object("resources", "requests"); whole != nil {
		asks := readResources(whole)
		if whole.Has("cpu") {
			all.CPU = asks.CPU
		}
		if whole.Has("memory") {
			all.Memory = asks.Memory
		}
	}
	return all.Plus(readResources(podSpec.Object("overhead")))
}
