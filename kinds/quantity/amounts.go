package quantity

import (
	"maps"
	"math/big"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Float is the amount, as near as a float comes.
func (q Quantity) Float() float64 {
	amount := new(big.Rat).SetInt(&q.digits)
	scale := new(big.Rat).SetInt(pow10(max(q.exp, -q.exp)))
	if q.exp < 0 {
		amount.Quo(amount, scale)
	} else {
		amount.Mul(amount, scale)
	}
	f, _ := amount.Float64()
	return f
}

// Amounts are quantities by the name of their resource, such as the requests of a container.
type Amounts map[string]Quantity

// ReadAmounts reads an object of quantities. What cannot be read is left out.
func ReadAmounts(t tree.Tree) Amounts {
	a := make(Amounts, len(t))
	for name := range t {
		if q, err := Read(t.String(name)); err == nil {
			a[name] = q
		}
	}
	return a
}

// Names are the names of the resources, sorted.
func (a Amounts) Names() []string { return slices.Sorted(maps.Keys(a)) }

// Add adds other to a.
func (a Amounts) Add(other Amounts) {
	for name, q := range other {
		if sum, ok := a[name]; ok {
			q = sum.Add(q)
		}
		a[name] = q
	}
}

// Raise raises what is less in a than in other to that.
func (a Amounts) Raise(other Amounts) {
	for name, q := range other {
		if has, ok := a[name]; !ok || q.Cmp(has) > 0 {
			a[name] = q
		}
	}
}
