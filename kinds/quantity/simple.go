package quantity

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

// Thousandths is the amount of a quantity in one of the usual forms, and whether its suffix is a binary
// one; ok is false for all others.
func Thousandths(s string) (n int64, binary, ok bool) {
	n, ok = parseSimple(s)
	return n, ok && s[len(s)-1] == 'i', ok
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
