package quota

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/tree"
)

// amounts holds amounts by distinct names. It is a slice and not a map, because it has a handful of
// entries and is built for each Pod.
type amounts []namedAmount

type namedAmount struct {
	name   string
	amount amount.Amount
}

func amountsOf(list tree.Tree) amounts {
	all := make(amounts, 0, len(list))
	for name, value := range list {
		text, _ := value.(string)
		all = append(all, namedAmount{name, amount.Read(text)})
	}
	return all
}

func (a amounts) index(name string) int {
	return slices.IndexFunc(a, func(n namedAmount) bool { return n.name == name })
}

func (a amounts) get(name string) amount.Amount {
	if i := a.index(name); i >= 0 {
		return a[i].amount
	}
	return amount.Amount{}
}

func (a *amounts) set(name string, value amount.Amount) {
	if i := a.index(name); i >= 0 {
		(*a)[i].amount = value
		return
	}
	*a = append(*a, namedAmount{name, value})
}

func (a *amounts) add(others amounts) {
	for _, o := range others {
		a.set(o.name, a.get(o.name).Add(o.amount))
	}
}

// raise sets each amount to the larger of both. It serves resources not used at the same time, as
// by init containers.
func (a *amounts) raise(others amounts) {
	for _, o := range others {
		if i := a.index(o.name); i < 0 {
			*a = append(*a, o)
		} else {
			(*a)[i].amount = (*a)[i].amount.Max(o.amount)
		}
	}
}

// String formats amounts for messages: "a=1,b=2", sorted by name.
func (a amounts) String() string {
	sorted := slices.SortedFunc(slices.Values(a), func(x, y namedAmount) int { return strings.Compare(x.name, y.name) })
	parts := make([]string, len(sorted))
	for i, n := range sorted {
		parts[i] = n.name + "=" + n.amount.String()
	}
	return strings.Join(parts, ",")
}
