package quantity

import (
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
