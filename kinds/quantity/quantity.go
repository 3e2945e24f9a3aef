package quantity

import (
	"cmp"
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// The errors of Read and Parse, in the wording that users know.
var (
	ErrFormat  = errors.New("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
	ErrNumeric = errors.New("unable to parse numeric part of quantity")
	ErrSuffix  = errors.New("unable to parse quantity's suffix")
)

// The limits of what is read, so that arithmetic stays cheap whatever clients send.
const (
	maxLength   = 128  // bytes of a quantity
	maxExponent = 1000 // digits before the point of one with an exponent: "1e9999999" is short to write
	minExponent = -9   // exponent of the smallest unit
	thousandth  = -3   // exponent of "m"
)

// A format is the family of suffixes that a quantity is written with, and is kept for its canonical form.
type format uint8

const (
	decimalSI format = iota
	binarySI
	decimalExponent
)

// A Quantity is an exact amount. The zero value is 0.
//
// Amounts of any size are kept exactly, as clients may write 128 digits: hence the big numbers. They are
// slow, so what is done for every Pod tries parseSimple first.
type Quantity struct {
	digits big.Int // the amount is digits × 10^exp
	exp    int
	format format
}

// Parse reads s and returns its canonical form, in which objects hold quantities: equal amounts of one
// family are equal strings.
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

// Compare orders two quantities by amount: -1, 0 or +1. What cannot be read counts as 0.
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

// WholeThousandths is the canonical form of the next multiple of 1m, away from zero. What cannot be read stays as it is.
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

// Float is the amount of a quantity, as near as a float comes. What cannot be read counts as 0.
func Float(s string) float64 {
	q, _ := Read(s)
	return q.Float()
}

// Read reads a quantity in any of its forms. Which of the errors it returns for what is decided in the
// same order as other servers of this API do, since clients compare messages.
func Read(s string) (Quantity, error) {
	var q Quantity
	if len(s) > maxLength {
		return q, ErrFormat
	}
	number, suffix := split(s)
	digits, fraction, ok := parseNumber(number)
	if !ok {
		if number == "" || !validSuffixText(suffix) {
			return q, ErrFormat
		}
		return q, ErrNumeric
	}
	if !validSuffixText(suffix) {
		return q, ErrFormat
	}
	u, ok := parseSuffix(suffix)
	if !ok {
		return q, ErrSuffix
	}
	q.digits.SetString(digits, 10)
	q.exp = u.exp10 - fraction
	q.format = u.format
	if q.format == decimalExponent && q.exp+len(q.digits.String()) > maxExponent {
		return Quantity{}, ErrSuffix // of the amount, however it is written
	}
	if u.shift > 0 {
		q.digits.Lsh(&q.digits, u.shift)
	}
	q.normalize()
	return q, nil
}

// normalize rounds to 1n away from zero, so that a small positive amount never becomes none, and limits
// binary amounts.
//
// As examples, 0.1n becomes 1n, -0.1n becomes -1n, and 100Ei becomes 9223372036854775807.
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

// Sign is -1, 0 or +1.
func (q Quantity) Sign() int { return q.digits.Sign() }

// Cmp orders by amount: -1, 0 or +1.
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

// IsInteger tells whether the amount has no fraction.
func (q Quantity) IsInteger() bool { return q.isMultiple(0) }

// isMultiple tells whether the amount is a multiple of 10^exp.
func (q Quantity) isMultiple(exp int) bool {
	if q.exp >= exp {
		return true
	}
	var rest big.Int
	rest.Rem(&q.digits, pow10(exp-q.exp))
	return rest.Sign() == 0
}

// String is the canonical form.
func (q Quantity) String() string {
	if q.Sign() == 0 {
		return "0"
	}
	if q.format == binarySI && q.IsInteger() && !q.small() {
		return q.binaryText()
	}
	return q.decimalText()
}

// The exponent is made the largest that leaves a whole number, and then lowered to a multiple of three, for
// which there is a suffix.
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

// small tells whether the amount lies strictly between -1024 and 1024.
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

// scaled is the amount as a multiple of 10^exp, which must not exceed the quantity's own exponent.
//
// It brings two amounts to the same exponent, in which they can be compared as whole numbers.
func (q Quantity) scaled(exp int) *big.Int {
	return new(big.Int).Mul(&q.digits, pow10(q.exp-exp))
}

func maxBinary() Quantity { return Quantity{digits: *big.NewInt(1<<63 - 1)} }

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// split cuts s after the signs, digits and points that it begins with.
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

// parseNumber drops the point: the number is digits × 10^-fraction.
func parseNumber(s string) (digits string, fraction int, ok bool) {
	whole, rest, _ := strings.Cut(s, ".")
	unsigned := strings.TrimLeft(whole, "+-")
	if strings.Contains(rest, ".") || unsigned == "" && rest == "" {
		return "", 0, false
	}
	return whole + rest, len(rest), true
}
