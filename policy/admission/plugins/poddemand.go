package plugins

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podDemand is what a Pod asks for in all: what its containers and sidecars ask for together, or the most
// that is asked for while it is being initialized. What the Pod says as a whole counts more. It is how a
// scheduler counts, so a LimitRange bounds what a node must have.
func podDemand(spec tree.Tree) demand {
	return demand{podAmounts(spec, "requests"), podAmounts(spec, "limits")}
}

// podAmounts are the requests, or the limits, of a Pod. Init containers run one after the other, before the
// containers, beside the sidecars that came before them; so of each resource the largest moment counts.
// Only cpu and memory can be said for the Pod as a whole.
func podAmounts(spec tree.Tree, of string) quantity.Amounts {
	sum, sidecars, initializing := quantity.Amounts{}, quantity.Amounts{}, quantity.Amounts{}
	eachContainer(spec, []string{"containers"}, func(c tree.Tree, _ string, _ int) bool {
		sum.Add(quantity.ReadAmounts(c.Object("resources", of)))
		return true
	})
	eachContainer(spec, []string{"initContainers"}, func(c tree.Tree, _ string, _ int) bool {
		own := quantity.ReadAmounts(c.Object("resources", of))
		if c.String("restartPolicy") == "Always" { // a sidecar, which goes on running
			sum.Add(own)
			sidecars.Add(own)
			own = maps.Clone(sidecars)
		} else {
			own.Add(sidecars)
		}
		initializing.Raise(own)
		return true
	})
	sum.Raise(initializing)
	for name, amount := range quantity.ReadAmounts(spec.Object("resources", of)) {
		if name == "cpu" || name == "memory" {
			sum[name] = amount
		}
	}
	return sum
}
