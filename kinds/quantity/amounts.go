package quantity

import (
	"maps"
	"math/big"
	"slices"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Float returns the nearest float64.
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

// Amounts are quantities by resource name, such as the requests of a container.
type Amounts map[string]Quantity

// ReadAmounts parses an object of quantities. It ignores invalid ones.
func ReadAmounts(t tree.Tree) Amounts {
	a := make(Amounts, len(t))
	for name := range t {
		if q, err := Read(t.String(name)); err == nil {
			a[name] = q
		}
	}
	return a
}

// Names returns the sorted resource names.
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

// Raise sets each amount to the maximum of a and other.
func (a Amounts) Raise(other Amounts) {
	for name, q := range other {
		if has, ok := a[name]; !ok || q.Cmp(has) > 0 {
			a[name] = q
		}
	}
}
