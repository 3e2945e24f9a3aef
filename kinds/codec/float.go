package codec

import (
	"math"
	"strconv"
)

// appendFloat writes the shortest form that decodes to the same number, as encoding/json does.
// Negative zero becomes 0, because it is decoded as an integer. NaN and infinities become null.
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
		b[end-2] = b[end-1]
		b = b[:end-1]
	}
	return b
}
