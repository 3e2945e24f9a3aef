package quantity

import (
	"slices"
	"strconv"
	"strings"
)

// Decimal suffixes start at 10^-9 in steps of 1000, binary suffixes at 1 in steps of 1024.
var (
	decimalSuffixes = []string{"n", "u", "m", "", "k", "M", "G", "T", "P", "E"}
	binarySuffixes  = []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
)

// A unit is the multiplier of a suffix, either 10^exp10 or 2^shift.
type unit struct {
	format format
	exp10  int
	shift  uint
}

func parseSuffix(s string) (unit, bool) {
	if i := slices.Index(decimalSuffixes, s); i >= 0 {
		return unit{format: decimalSI, exp10: minExponent + 3*i}, true
	}
	if i := slices.Index(binarySuffixes, s); i >= 0 {
		return unit{format: binarySI, shift: uint(10 * i)}, true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return unit{}, false
	}
	n, err := strconv.Atoi(s[1:])
	if err != nil || n > maxExponent || n < -maxExponent {
		return unit{}, false
	}
	return unit{format: decimalExponent, exp10: n}, true
}

func validSuffixText(s string) bool {
	s = strings.TrimLeft(s, "eEinumkKMGTP")
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	return strings.Trim(s, "0123456789") == ""
}
