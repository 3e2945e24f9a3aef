package quantity

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestParseSimpleAgreesWithRead(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	suffixes := []string{"", "m", "k", "M", "G", "Ki", "Mi", "Gi", "T", "n", "e3"}
	text := func() string {
		s := ""
		for range random.IntN(8) {
			s += string("0019"[random.IntN(4)])
		}
		return s + suffixes[random.IntN(len(suffixes))]
	}
	known := 0
	for range 50_000 {
		a, b := text(), text()
		x, _ := Read(a)
		y, _ := Read(b)
		if got, want := Compare(a, b), x.Cmp(y); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", a, b, got, want)
		}
		if _, ok := parseSimple(a); ok {
			known++
		}
	}
	if known < 10_000 {
		t.Errorf("only %d amounts are known at sight", known)
	}
}

func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		in           string
		milli, value int64
	}{
		{"500m", 500, 1}, {"2", 2000, 2}, {"24581696Ki", 24581696 << 10 * 1000, 24581696 << 10}, {"1Ti", 1 << 40 * 1000, 1 << 40},
		{"1234567", 1234567000, 1234567}, {"1.5", 1500, 2}, {"1n", 1, 1}, {"-1500u", -2, -1}, {"1e3", 1000_000, 1000},
		{"1E", math.MaxInt64, 1e18}, {"-100E", math.MinInt64, math.MinInt64}, {"100E", math.MaxInt64, math.MaxInt64},
	} {
		milli, err := Milli(c.in)
		if err != nil || milli != c.milli {
			t.Errorf("Milli(%s) = %d, %v; want %d", c.in, milli, err, c.milli)
		}
		value, err := Value(c.in)
		if err != nil || value != c.value {
			t.Errorf("Value(%s) = %d, %v; want %d", c.in, value, err, c.value)
		}
	}
	for _, malformed := range []string{"", "x", "1K"} {
		if n, err := Milli(malformed); err == nil {
			t.Errorf("Milli(%s) = %d", malformed, n)
		}
		if n, err := Value(malformed); err == nil {
			t.Errorf("Value(%s) = %d", malformed, n)
		}
	}
}
