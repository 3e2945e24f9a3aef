package quantity

import "math/big"

// FromInt returns an integer quantity in exponent format.
func FromInt(n int64) Quantity {
	return Quantity{digits: *big.NewInt(n), format: decimalExponent}
}

// Add returns the sum, in the format of q unless q is zero.
func (q Quantity) Add(o Quantity) Quantity {
	low := min(q.exp, o.exp)
	sum := Quantity{exp: low, format: q.format}
	if q.Sign() == 0 {
		sum.format = o.format
	}
	sum.digits.Add(q.scaled(low), o.scaled(low))
	return sum
}

// Sub returns q - o, in the format of q unless q is zero.
func (q Quantity) Sub(o Quantity) Quantity { return q.Add(o.Neg()) }

// Neg returns the negated quantity.
func (q Quantity) Neg() Quantity {
	n := Quantity{exp: q.exp, format: q.format}
	n.digits.Neg(&q.digits)
	return n
}

// RoundUp returns the next integer away from zero, or q itself if q is an integer.
func (q Quantity) RoundUp() Quantity { return q.roundUpTo(0) }

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

// Multiple returns the quantity in units of 10^exp, truncated, and whether the result is exact.
func (q Quantity) Multiple(exp int) (*big.Int, bool) {
	if exp <= q.exp {
		return q.scaled(exp), true
	}
	var rest big.Int
	n, _ := new(big.Int).QuoRem(&q.digits, pow10(exp-q.exp), &rest)
	return n, rest.Sign() == 0
}

// IsBinary reports whether the quantity has a binary suffix.
func (q Quantity) IsBinary() bool { return q.format == binarySI }
