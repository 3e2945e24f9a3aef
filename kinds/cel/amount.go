package cel

import (
	"math"
	"strings"

	"github.com/troupe-api/troupe/kinds/quantity"
)

// An amount is a quantity and the way it was written, on which kube-apiserver's functions depend.
// For example, isInteger is true for "1" but false for "1.0".
type amount struct {
	quantity.Quantity
	scale int  // a multiple of 10^scale
	small bool // fits into 64 bits
}

// finest is the decimal scale of the smallest unit, nano (suffix n).
const finest = -9

// maxDigits is the number of decimal digits that always fit into an int64.
const maxDigits = 18

// maxBinaryDigits limits the decimal digits of a quantity with a binary suffix. As in
// kube-apiserver, each factor of 2^10 in the suffix counts as three digits.
const maxBinaryDigits = 14

type numeral struct{ sign, whole, fraction, suffix string }

// parseNumeral splits a quantity into its parts. It drops leading zeros and accepts strings without
// digits.
func parseNumeral(s string) (n numeral, ok bool) {
	rest := strings.TrimPrefix(s, "+")
	if rest == s && strings.HasPrefix(s, "-") {
		n.sign, rest = "-", s[1:]
	}
	rest = strings.TrimLeft(rest, "0")
	n.whole, rest = cutDigits(rest)
	if after, found := strings.CutPrefix(rest, "."); found {
		n.fraction, rest = cutDigits(after)
		if n.whole == "" {
			n.whole = "0"
		}
	}
	n.suffix = rest
	rest = strings.TrimLeft(rest, "eEinumkKMGTP")
	if rest != "" && strings.Contains("+-", rest[:1]) {
		rest = rest[1:]
	}
	_, rest = cutDigits(rest)
	return n, s != "" && rest == ""
}

func cutDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && isDigit(rune(s[n])) {
		n++
	}
	return s[:n], s[n:]
}

// parseAmount parses a quantity and records its scale and whether it fits into an int64. As in
// kube-apiserver, a string without digits, such as "k", may be valid.
func parseAmount(s string) (amount, error) {
	n, ok := parseNumeral(s)
	if !ok {
		return amount{}, quantity.ErrFormat
	}
	whole, fraction := max(len(n.whole), 1), len(n.fraction)
	hasDigits := n.fraction != "" || strings.Trim(n.whole, "0") != "" || strings.Contains(strings.TrimSuffix(s, n.suffix), "0")
	q, err := quantity.Read(n.sign + "0" + n.whole + "." + n.fraction + n.suffix)
	if err != nil {
		return amount{}, err
	}
	if q.IsBinary() {
		exponent := 10 * (1 + strings.Index("KMGTPE", n.suffix[:1]))
		if left := maxBinaryDigits - whole - exponent*3/10; fraction == 0 && left >= 0 {
			return amount{q, 0, true}, nil
		}
		return big(q, hasDigits)
	}
	scale := decimalExponent(n.suffix) - fraction
	if whole+fraction <= maxDigits && scale >= finest {
		return amount{q, scale, true}, nil
	}
	return big(q, hasDigits)
}

// big returns an amount that may not fit into an int64, or an error if the string had no digits.
func big(q quantity.Quantity, hasDigits bool) (amount, error) {
	if !hasDigits {
		return amount{}, quantity.ErrNumeric
	}
	return amount{q, finest, false}, nil
}

// decimalExponent returns the power of ten of a valid decimal suffix: n, u, m, k to E, or e and an
// exponent.
func decimalExponent(suffix string) int {
	if suffix == "" {
		return 0
	}
	if i := strings.Index("num", suffix[:1]); i >= 0 {
		return finest + 3*i
	}
	if len(suffix) == 1 {
		return 3 * (1 + strings.Index("kMGTPE", suffix))
	}
	exponent, negative := 0, false
	for _, c := range suffix[1:] {
		switch {
		case c == '-':
			negative = true
		case isDigit(c):
			exponent = 10*exponent + int(c-'0')
		}
	}
	if negative {
		return -exponent
	}
	return exponent
}

func amountOf(n int64) amount { return amount{quantity.FromInt(n), 0, true} }

func (a amount) add(b amount) amount { return a.combined(b, a.Quantity.Add(b.Quantity)) }

func (a amount) sub(b amount) amount { return a.combined(b, a.Quantity.Sub(b.Quantity)) }

// combined returns sum as an amount, with scale and small derived from a and b. If one of them is
// zero, it keeps the scale of the other.
func (a amount) combined(b amount, sum quantity.Quantity) amount {
	c := amount{sum, min(a.scale, b.scale), a.small && b.small}
	switch {
	case !c.small:
	case b.Sign() == 0:
		c.scale = a.scale
	case a.Sign() == 0:
		c.scale = b.scale
	default:
		for _, part := range []quantity.Quantity{a.Quantity, b.Quantity, sum} {
			n, _ := part.Multiple(c.scale)
			c.small = c.small && n.IsInt64()
		}
	}
	return c
}

// int64 returns the amount as an integer, or false if the amount was not written as an integer.
func (a amount) int64() (int64, bool) {
	n, exact := a.Multiple(0)
	if !a.small || a.scale < 0 || !exact || !n.IsInt64() {
		return 0, false
	}
	return n.Int64(), true
}

// float returns the amount as a float64. Like kube-apiserver, it multiplies digits and scale as
// floats, because expressions may depend on the exact rounding.
func (a amount) float() float64 {
	n, _ := a.Multiple(a.scale)
	f, _ := n.Float64()
	if a.scale == 0 {
		return f
	}
	return f * math.Pow10(a.scale)
}
