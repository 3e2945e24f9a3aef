package plugins

import (
	"maps"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

// podDemand returns the total requests and limits of a Pod, as the scheduler computes them.
func podDemand(spec tree.Tree) demand {
	return demand{podAmounts(spec, "requests"), podAmounts(spec, "limits")}
}

// podAmounts returns the total requests or limits of a Pod per resource. Init containers run one
// after another beside the sidecars started before them, so the maximum over time counts. Pod-level
// resources override the totals of cpu and memory.
func podAmounts(spec tree.Tree, of string) quantity.Amounts {
	sum, sidecars, initializing := quantity.Amounts{}, quantity.Amounts{}, quantity.Amounts{}
	eachContainer(spec, []string{"containers"}, func(c tree.Tree, _ string, _ int) bool {
		sum.Add(quantity.ReadAmounts(c.Object("resources", of)))
		return true
	})
	eachContainer(spec, []string{"initContainers"}, func(c tree.Tree, _ string, _ int) bool {
		own := quantity.ReadAmounts(c.Object("resources", of))
		if c.String("restartPolicy") == "Always" { // a sidecar
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
