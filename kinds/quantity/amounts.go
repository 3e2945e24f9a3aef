package quantity

import (
	"math/big"
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
