package quantity

import "math/big"

// FromInt is a whole amount. Its format is that of exponents.
func FromInt(n int64) Quantity {
	return Quantity{digits: *big.NewInt(n), format: decimalExponent}
}

// Add is the sum, in the format of q unless that is zero.
func (q Quantity) Add(o Quantity) Quantity {
	low := min(q.exp, o.exp)
	sum := Quantity{exp: low, format: q.format}
	if q.Sign() == 0 {
		sum.format = o.format
	}
	sum.digits.Add(q.scaled(low), o.scaled(low))
	return sum
}

// Sub is the difference, in the format of q unless that is zero.
func (q Quantity) Sub(o Quantity) Quantity { return q.Add(o.Neg()) }

// Neg is the amount with the other sign.
func (q Quantity) Neg() Quantity {
	n := Quantity{exp: q.exp, format: q.format}
	n.digits.Neg(&q.digits)
	return n
}

// RoundUp is the next whole amount, away from zero; q if it is one.
func (q Quantity) RoundUp() Quantity { return q.roundUpTo(0) }

// roundUpTo is the next multiple of 10^exp, away from zero; q if it is one.
func (q Quantity) roundUpTo(exp int) Quantity {
	if q.isMultiple(exp) {
		return q
	}
	r := Quantity{exp: exp, format: q.format}
	var rest big.Int
	r.digits.QuoRem(&q.digits, pow10(exp-q.exp), &rest)
	r.digits.Add(&r.digits, big.NewInt(int64(rest.Sign())))
	return r
}

// Multiple is the amount as a multiple of 10^exp, without what is left; false if something is.
func (q Quantity) Multiple(exp int) (*big.Int, bool) {
	if exp <= q.exp {
		return q.scaled(exp), true
	}
	var rest big.Int
	n, _ := new(big.Int).QuoRem(&q.digits, pow10(exp-q.exp), &rest)
	return n, rest.Sign() == 0
}

// IsBinary tells whether the quantity is written with a binary suffix.
func (q Quantity) IsBinary() bool { return q.format == binarySI }
