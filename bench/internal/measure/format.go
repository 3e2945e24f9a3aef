package measure

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Microseconds is a duration in microseconds.
func Microseconds(d time.Duration) float64 {
	return float64(d) / float64(time.Microsecond)
}

// Span prints microseconds in a unit that suits them.
func Span(us float64) string {
	switch {
	case us >= 1e6:
		return Short(us/1e6) + " s"
	case us >= 1e4:
		return Short(us/1e3) + " ms"
	default:
		return Short(us) + " µs"
	}
}

// Short prints three digits, or all that are before the point.
func Short(v float64) string {
	switch size := math.Abs(v); {
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10 || v == math.Trunc(v):
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// Mebibytes is a number of bytes in MiB.
func Mebibytes(bytes int64) float64 {
	return float64(bytes) / (1 << 20)
}

// Milliseconds is a duration in milliseconds.
func Milliseconds(d time.Duration) float64 {
	return float64(d) / float64(time.Millisecond)
}

// Plural is a number with its noun, as rows are named.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + noun + "s"
}
