package quantity

import "math"

// parseSimple returns a common quantity such as "500m", "2" or "128Mi" in thousandths, without big
// numbers. ok is false for all others, including those with signs, fractions and smaller units.
func parseSimple(s string) (thousandths int64, ok bool) {
	const few = 6 // digits, so that sums cannot overflow
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

// ParseShort is a fast path for common quantities such as "500m" or "128Mi". It returns the
// quantity in thousandths and whether its suffix is binary. If ok is false, callers must use Read.
func ParseShort(s string) (thousandths int64, binary, ok bool) {
	n, ok := parseSimple(s)
	return n, ok && s[len(s)-1] == 'i', ok
}

// Milli returns the quantity in thousandths, rounded away from zero and clamped to the int64 range.
func Milli(s string) (int64, error) {
	if n, ok := parseSimple(s); ok {
		return n, nil
	}
	return scaled(s, thousandth)
}

// Value returns the quantity as an integer, rounded and clamped like Milli.
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

// OfThousandths returns n thousandths as a quantity in binary or decimal format.
func OfThousandths(n int64, binary bool) Quantity {
	q := Quantity{exp: thousandth}
	if binary {
		q.format = binarySI
	}
	q.digits.SetInt64(n)
	return q
}
