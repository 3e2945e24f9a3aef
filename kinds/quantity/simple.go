package quantity

import "math"

// parseSimple is the amount, in thousandths, of a quantity in one of the usual forms, such as "500m", "2"
// and "128Mi"; false for all others. It spares big numbers where amounts are added up for every Pod.
//
// A thousandth is its unit because of "m"; smaller units, signs and fractions take the general way.
func parseSimple(s string) (thousandths int64, ok bool) {
	const few = 6 // digits, with which no sum here is too large
	n, i := int64(0), 0
	for ; i < len(s) && i <= few && '0' <= s[i] && s[i] <= '9'; i++ {
		n = 10*n + int64(s[i]-'0')
	}
	if i == 0 || i > few {
		return 0, false
	}
	switch s[i:] {
	case "m":
		return n, true
	case "":
		return n * 1000, true
	case "k":
		return n * 1000_000, true
	case "M":
		return n * 1000_000_000, true
	case "G":
		return n * 1000_000_000_000, true
	case "Ki":
		return n * 1000 << 10, true
	case "Mi":
		return n * 1000 << 20, true
	case "Gi":
		return n * 1000 << 30, true
	}
	return 0, false
}

// ParseShort is a fast path for arithmetic on usual amounts: it returns the thousandths of a quantity such
// as "500m" or "128Mi", and whether its suffix is binary. If ok is false, s may still be a quantity: read it
// with Read.
func ParseShort(s string) (thousandths int64, binary, ok bool) {
	n, ok := parseSimple(s)
	return n, ok && s[len(s)-1] == 'i', ok
}

// Milli returns the amount of a quantity in thousandths, rounded away from zero. Amounts that exceed 64 bits
// become the largest number of their sign.
func Milli(s string) (int64, error) {
	if n, ok := parseSimple(s); ok {
		return n, nil
	}
	return scaled(s, thousandth)
}

// Value returns the amount of a quantity as an integer. It rounds and limits the amount as Milli does.
func Value(s string) (int64, error) {
	if n, ok := parseSimple(s); ok {
		return (n + 999) / 1000, nil
	}
	return scaled(s, 0)
}

// HasFraction reports whether s is a quantity that is not an integer.
func HasFraction(s string) bool {
	if n, ok := parseSimple(s); ok {
		return n%1000 != 0
	}
	q, err := Read(s)
	return err == nil && !q.IsInteger()
}

// scaled returns the amount of a quantity in units of 10^exp.
func scaled(s string, exp int) (int64, error) {
	q, err := Read(s)
	if err != nil {
		return 0, err
	}
	n, _ := q.roundUpTo(exp).Multiple(exp)
	switch {
	case n.IsInt64():
		return n.Int64(), nil
	case n.Sign() < 0:
		return math.MinInt64, nil
	}
	return math.MaxInt64, nil
}

// OfThousandths is a quantity of the binary or the decimal family.
func OfThousandths(n int64, binary bool) Quantity {
	q := Quantity{exp: thousandth}
	if binary {
		q.format = binarySI
	}
	q.digits.SetInt64(n)
	return q
}
