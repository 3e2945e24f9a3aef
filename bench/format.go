package main

import (
	"math"
	"strconv"
	"strings"
	"time"
)

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func span(us float64) string {
	switch {
	case us >= 1e6:
		return short(us/1e6) + " s"
	case us >= 1e4:
		return short(us/1e3) + " ms"
	default:
		return short(us) + " µs"
	}
}

// short formats a number with three significant digits, but never rounds the integer part.
func short(v float64) string {
	switch size := math.Abs(v); {
	case size >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case size >= 10 || v == math.Trunc(v):
		return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
