package codec

import (
	"math"
	"strconv"
)

// appendFloat writes a number as encoding/json does, with one exception: negative zero becomes 0, since it
// is read back as an integer, which has only one zero. What JSON has no number for becomes null.
//
// As examples: 1.5 is 1.5, 3e20 is 300000000000000000000, 1e21 is 1e+21, 0.000001 is 0.000001 and 1e-9 is
// 1e-9. The shortest digits that are read back as the same number are written, so nothing is lost.
func appendFloat(b []byte, n float64) []byte {
	if n == 0 {
		return append(b, '0')
	}
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return append(b, "null"...)
	}
	abs := math.Abs(n)
	if abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, n, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, n, 'e', -1, 64)
	if end := len(b); b[end-4] == 'e' && b[end-3] == '-' && b[end-2] == '0' {
		b[end-2] = b[end-1] // e-09 becomes e-9
		b = b[:end-1]
	}
	return b
}
