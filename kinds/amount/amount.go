package amount

import (
	"cmp"

	"github.com/troupe-api/troupe/kinds/quantity"
)

// An Amount is an exact, immutable quantity. The zero value is 0.
type Amount struct {
	thousandths int64 // within ±limit, unless exact is set
	binary      bool  // has a suffix such as Ki
	exact       *quantity.Quantity
}

// limit bounds integer arithmetic, so that the sum of two values within ±limit does not overflow.
const limit = 1 << 61

// Of returns an integer amount. n must be within ±10^15.
func Of(n int64) Amount { return Amount{thousandths: 1000 * n} }

// Parse parses a quantity. It returns the errors of package quantity.
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

// Read parses a validated quantity. It returns 0 if s is malformed.
func Read(s string) Amount {
	a, _ := Parse(s)
	return a
}

// Add returns the sum, in the format of a. If a is 0, the sum has the format of b.
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

// Sub returns a - b. If a is 0, the result has the format of b.
func (a Amount) Sub(b Amount) Amount { return a.Add(b.Neg()) }

// Neg returns the negated amount.
func (a Amount) Neg() Amount {
	if a.exact == nil {
		return Amount{thousandths: -a.thousandths, binary: a.binary}
	}
	n := a.exact.Neg()
	return Amount{exact: &n}
}

// RoundUp rounds to an integer amount, away from zero.
func (a Amount) RoundUp() Amount {
	if a.exact == nil && a.thousandths%1000 == 0 {
		return a
	}
	q := a.quantity().RoundUp()
	return Amount{exact: &q}
}

// Max returns the greater amount, or a if they are equal.
func (a Amount) Max(b Amount) Amount {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

// Cmp compares a and b and returns -1, 0 or +1.
func (a Amount) Cmp(b Amount) int {
	if a.exact == nil && b.exact == nil {
		return cmp.Compare(a.thousandths, b.thousandths)
	}
	return a.quantity().Cmp(b.quantity())
}

// Sign returns -1, 0 or +1 for a negative, zero or positive amount.
func (a Amount) Sign() int {
	if a.exact == nil {
		return cmp.Compare(a.thousandths, 0)
	}
	return a.exact.Sign()
}

// Float returns the nearest float64.
func (a Amount) Float() float64 { return a.quantity().Float() }

// String returns the canonical form of the quantity.
func (a Amount) String() string { return a.quantity().String() }

func (a Amount) quantity() quantity.Quantity {
	if a.exact != nil {
		return *a.exact
	}
	return quantity.OfThousandths(a.thousandths, a.binary)
}
