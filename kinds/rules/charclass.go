package rules

import "strings"

// Character classes of the bytes in names. A table lookup per byte is cheaper than matching the
// regular expression that error messages mention.
const (
	lower = 1 << iota
	upper
	digit
	dash
	underscoreOrDot // '_' and '.'

	alphanumeric = lower | upper | digit
)

var charClasses = func() (of [256]uint8) {
	for c := range of {
		switch b := byte(c); {
		case 'a' <= b && b <= 'z':
			of[c] = lower
		case 'A' <= b && b <= 'Z':
			of[c] = upper
		case '0' <= b && b <= '9':
			of[c] = digit
		case b == '-':
			of[c] = dash
		case b == '_' || b == '.':
			of[c] = underscoreOrDot
		}
	}
	return of
}()

// hasClasses reports whether s is not empty, starts and ends with a byte of class ends, and
// consists of bytes of class inner.
func hasClasses(s string, ends, inner uint8) bool {
	if s == "" || charClasses[s[0]]&ends == 0 || charClasses[s[len(s)-1]]&ends == 0 {
		return false
	}
	for i := range len(s) {
		if charClasses[s[i]]&inner == 0 {
			return false
		}
	}
	return true
}

func isLabel(s string) bool { return hasClasses(s, lower|digit, lower|digit|dash) }

func isLabel1035(s string) bool { return isLabel(s) && charClasses[s[0]] == lower }

func isQualified(s string) bool {
	return hasClasses(s, alphanumeric, alphanumeric|dash|underscoreOrDot)
}

func isLabelValue(s string) bool { return s == "" || isQualified(s) }

func isConfigKey(s string) bool {
	return hasClasses(s, alphanumeric|dash|underscoreOrDot, alphanumeric|dash|underscoreOrDot)
}

func isSubdomain(s string) bool {
	for more := true; more; {
		var label string
		if label, s, more = strings.Cut(s, "."); !isLabel(label) {
			return false
		}
	}
	return true
}
