package quantity

import (
	"cmp"
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// Errors of Read and Parse, with the messages of Kubernetes.
var (
	ErrFormat  = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	ErrNumeric = errors.New("unable to parse numeric part of quantity")
	ErrSuffix  = errors.New("unable to parse quantity's suffix")
)

// Input limits that keep arithmetic cheap.
const (
	maxLength   = 128  // bytes
	maxExponent = 1000 // digits before the point in exponent format, because "1e9999999" is short
	minExponent = -9   // exponent of the smallest unit
	thousandth  = -3   // exponent of "m"

	maxEmptyShift = 40 // of "Ti", the largest binary suffix of quantities without digits
)

// A format is the notation of a quantity, which its canonical form keeps: decimal suffixes, binary
// suffixes or an exponent.
type format uint8

const (
	decimalSI format = iota
	binarySI
	decimalExponent
)

// A Quantity is an exact number of any size, because clients may send 128 digits. The zero value is
// 0. big.Int arithmetic is slow, so hot paths try parseSimple first.
type Quantity struct {
	digits big.Int // the amount is digits × 10^exp
	exp    int
	format format
}

// Parse returns the canonical form of s, which objects store. Equal quantities of one format have
// the same canonical form.
func Parse(s string) (string, error) {
	q, err := Read(s)
	if err != nil {
		return "", err
	}
	if s = q.String(); len(s) > maxLength {
		return "", ErrFormat
	}
	return s, nil
}

// Compare compares two quantities and returns -1, 0 or +1. Invalid quantities count as 0.
func Compare(a, b string) int {
	if m, ok := parseSimple(a); ok {
		if n, ok := parseSimple(b); ok {
			return cmp.Compare(m, n)
		}
	}
	x, _ := Read(a)
	y, _ := Read(b)
	return x.Cmp(y)
}

// WholeThousandths returns the canonical form of s, rounded away from zero to a multiple of 1m. It
// returns an invalid quantity unchanged.
func WholeThousandths(s string) string {
	if _, ok := parseSimple(s); ok {
		return s
	}
	q, err := Read(s)
	if err != nil || q.isMultiple(thousandth) {
		return s
	}
	return q.roundUpTo(thousandth).String()
}

// Float returns the float64 nearest to a quantity, or 0 if it is invalid.
func Float(s string) float64 {
	q, _ := Read(s)
	return q.Float()
}

// Read parses a quantity in any of its forms. If s has several errors, it returns the same one as
// Kubernetes, because clients compare messages.
func Read(s string) (Quantity, error) {
	var q Quantity
	if len(s) > maxLength {
		return q, ErrFormat
	}
	number, suffix := split(s)
	digits, fraction, ok := parseNumber(number)
	if !ok || s == "" || !validSuffixText(suffix) {
		return q, ErrFormat
	}
	u, ok := parseSuffix(suffix)
	if !ok {
		return q, ErrSuffix
	}
	// As in Kubernetes, a quantity without digits, such as "m", is 0, except with some suffixes.
	if strings.Trim(digits, "+-") == "" {
		if u.exp10 < minExponent || u.shift > maxEmptyShift {
			return q, ErrNumeric
		}
		digits = "0"
	}
	q.digits.SetString(digits, 10)
	q.exp = u.exp10 - fraction
	q.format = u.format
	if q.format == decimalExponent && q.exp+len(q.digits.String()) > maxExponent {
		return Quantity{}, ErrSuffix // of the amount in any notation
	}
	if u.shift > 0 {
		q.digits.Lsh(&q.digits, u.shift)
	}
	q.normalize()
	return q, nil
}

// normalize rounds away from zero to a multiple of 1n, so that only zero becomes 0. It also clamps
// quantities with binary suffixes to the int64 range. For example, 0.1n becomes 1n, -0.1n becomes
// -1n, and 100Ei becomes 9223372036854775807.
func (q *Quantity) normalize() {
	if q.digits.Sign() == 0 {
		q.exp = 0
		return
	}
	if q.exp < minExponent {
		var rest big.Int
		q.digits.QuoRem(&q.digits, pow10(minExponent-q.exp), &rest)
		q.digits.Add(&q.digits, big.NewInt(int64(rest.Sign())))
		q.exp = minExponent
	}
	if q.format != binarySI {
		return
	}
	limit := maxBinary()
	if limit.Cmp(q.abs()) < 0 {
		sign := q.digits.Sign()
		q.digits.Mul(&limit.digits, big.NewInt(int64(sign)))
		q.exp = 0
	}
}

// Sign returns -1, 0 or +1.
func (q Quantity) Sign() int { return q.digits.Sign() }

// Cmp compares two quantities and returns -1, 0 or +1.
func (q Quantity) Cmp(o Quantity) int {
	if s, t := q.Sign(), o.Sign(); s != t {
		if s < t {
			return -1
		}
		return 1
	}
	low := min(q.exp, o.exp)
	return q.scaled(low).Cmp(o.scaled(low))
}

// IsInteger reports whether the quantity has no fraction.
func (q Quantity) IsInteger() bool { return q.isMultiple(0) }

func (q Quantity) isMultiple(exp int) bool {
	if q.exp >= exp {
		return true
	}
	var rest big.Int
	rest.Rem(&q.digits, pow10(exp-q.exp))
	return rest.Sign() == 0
}

// String returns the canonical form.
func (q Quantity) String() string {
	if q.Sign() == 0 {
		return "0"
	}
	if q.format == binarySI && q.IsInteger() && !q.small() {
		return q.binaryText()
	}
	return q.decimalText()
}

// decimalText formats q as an integer with a decimal suffix or exponent. It chooses the largest
// exponent that is a multiple of three, because only those have suffixes.
func (q Quantity) decimalText() string {
	n, exp := new(big.Int).Set(&q.digits), q.exp
	var rest, quo big.Int
	for ten := big.NewInt(10); ; exp++ {
		if quo.QuoRem(n, ten, &rest); rest.Sign() != 0 {
			break
		}
		n.Set(&quo)
	}
	unit := exp - ((exp%3)+3)%3
	if q.format != decimalExponent {
		unit = min(unit, 18)
	}
	n.Mul(n, pow10(exp-unit))
	if q.format == decimalExponent {
		if unit == 0 {
			return n.String()
		}
		return n.String() + "e" + strconv.Itoa(unit)
	}
	return n.String() + decimalSuffixes[(unit-minExponent)/3]
}

func (q Quantity) binaryText() string {
	n := new(big.Int).Set(q.scaled(min(q.exp, 0)))
	if q.exp < 0 {
		n.Quo(n, pow10(-q.exp))
	}
	unit := 0
	for unit+1 < len(binarySuffixes) && n.TrailingZeroBits() >= 10 {
		n.Rsh(n, 10)
		unit++
	}
	return n.String() + binarySuffixes[unit]
}

func (q Quantity) small() bool {
	limit := Quantity{digits: *big.NewInt(1024)}
	return q.abs().Cmp(limit) < 0
}

func (q Quantity) abs() Quantity {
	var a Quantity
	a.digits.Abs(&q.digits)
	a.exp, a.format = q.exp, q.format
	return a
}

// scaled returns the quantity in units of 10^exp, for comparison as an integer. exp must not exceed
// q.exp.
func (q Quantity) scaled(exp int) *big.Int {
	return new(big.Int).Mul(&q.digits, pow10(q.exp-exp))
}

func maxBinary() Quantity { return Quantity{digits: *big.NewInt(1<<63 - 1)} }

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func split(s string) (number, suffix string) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	for i < len(s) && (s[i] == '.' || '0' <= s[i] && s[i] <= '9') {
		i++
	}
	return s[:i], s[i:]
}

func parseNumber(s string) (digits string, fraction int, ok bool) {
	whole, rest, _ := strings.Cut(s, ".")
	return whole + rest, len(rest), !strings.Contains(rest, ".")
}
