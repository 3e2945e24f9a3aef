package amount

import (
	"cmp"

	"github.com/troupe-api/troupe/kinds/quantity"
)

// An Amount is an exact amount. It is immutable; the zero value is 0.
type Amount struct {
	thousandths int64 // within ±limit, unless exact is set
	binary      bool  // written with suffixes such as Ki
	exact       *quantity.Quantity
}

// limit bounds what is computed as integers, so that no sum of two overflows.
const limit = 1 << 61

// Of is a whole number, within 10^15.
func Of(n int64) Amount { return Amount{thousandths: 1000 * n} }

// Parse reads a quantity. Errors are those of malformed quantities.
func Parse(s string) (Amount, error) {
	if n, binary, ok := quantity.ParseShort(s); ok && n < limit {
		return Amount{thousandths: n, binary: binary && n != 0}, nil
	}
	q, err := quantity.Read(s)
	if err != nil {
		return Amount{}, err
	}
	return Amount{exact: &q}, nil
}

// Read is Parse for what has passed validation: what is malformed nonetheless counts as 0.
func Read(s string) Amount {
	a, _ := Parse(s)
	return a
}

// Add is the sum, written as a is, or as b if a is 0.
func (a Amount) Add(b Amount) Amount {
	if a.exact == nil && b.exact == nil {
		binary := a.binary
		if a.thousandths == 0 {
			binary = b.binary
		}
		if n := a.thousandths + b.thousandths; -limit < n && n < limit {
			return Amount{thousandths: n, binary: binary}
		}
	}
	sum := a.quantity().Add(b.quantity())
	return Amount{exact: &sum}
}

// Sub is the difference, written as Add writes the sum.
func (a Amount) Sub(b Amount) Amount { return a.Add(b.Neg()) }

// Neg is the amount with the other sign.
func (a Amount) Neg() Amount {
	if a.exact == nil {
		return Amount{thousandths: -a.thousandths, binary: a.binary}
	}
	n := a.exact.Neg()
	return Amount{exact: &n}
}

// RoundUp is the next whole amount; a if it is one.
func (a Amount) RoundUp() Amount {
	if a.exact == nil && a.thousandths%1000 == 0 {
		return a
	}
	q := a.quantity().RoundUp()
	return Amount{exact: &q}
}

// Max is the greater one; a if they are equal.
func (a Amount) Max(b Amount) Amount {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// Cmp orders by amount: -1, 0 or +1.
func (a Amount) Cmp(b Amount) int {
	if a.exact == nil && b.exact == nil {
		return cmp.Compare(a.thousandths, b.thousandths)
	}
	return a.quantity().Cmp(b.quantity())
}

// Sign is -1, 0 or +1.
func (a Amount) Sign() int {
	if a.exact == nil {
		return cmp.Compare(a.thousandths, 0)
	}
	return a.exact.Sign()
}

// String is the canonical form of the quantity.
func (a Amount) String() string { return a.quantity().String() }

func (a Amount) quantity() quantity.Quantity {
	if a.exact != nil {
		return *a.exact
	}
	return quantity.OfThousandths(a.thousandths, a.binary)
}
