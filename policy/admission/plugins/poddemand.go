package plugins

import (
	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

func podAmounts(spec tree.Tree, of string) amount.List {
	sum := amount.OfContainers(spec, amount.Declared(of))
	for _, n := range amount.ListOf(spec.Object("resources", of)) {
		if n.Name == "cpu" || n.Name == "memory" {
			sum.Set(n.Name, n.Amount)
		}
	}
	return sum
}
