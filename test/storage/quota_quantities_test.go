package storage

import (
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/test/client"
)

// TestQuantitiesAgainstTheOracle parses random strings as quantities. The results and errors must
// equal those of k8s.io/apimachinery.
func TestQuantitiesAgainstTheOracle(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(client.Seed(t, 3), 5))
	suffixes := []string{"", "", "m", "u", "n", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-2", "e12", "K", "mi", "x", "e"}
	digits := func(most int) (s string) {
		for range random.IntN(most + 1) {
			s += string("00123456789"[random.IntN(11)])
		}
		return s
	}
	text := func() string {
		s := []string{"", "", "", "-", "+"}[random.IntN(5)] + digits(20)
		if random.IntN(3) == 0 {
			s += "." + digits(12)
		}
		return s + suffixes[random.IntN(len(suffixes))]
	}
	last, lastText := resource.MustParse("1"), "1"
	parsed := 0
	for range 50_000 {
		s := text()
		want, wantErr := resource.ParseQuantity(s)
		got, err := quantity.Parse(s)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			number := s[:len(s)-len(strings.TrimLeft(s, "+-.0123456789"))]
			if strings.Trim(number, "+-.") == "" {
				continue // without a number, the public implementation accepts strings that its documentation excludes
			}
			t.Fatalf("%q: %v, want %v", s, err, wantErr)
		}
		if err != nil {
			continue
		}
		parsed++
		if strings.HasSuffix(got, "E") && len(got) > len("-999E") {
			continue // the public implementation has no suffix for thousands of E, and drops it
		}
		// Do not compare with String, which returns some quantities, such as 007, in non-canonical
		// form.
		number, suffix := want.CanonicalizeBytes(nil)
		if canonical := string(number) + string(suffix); got != canonical {
			t.Fatalf("%q is %s, want %s", s, got, canonical)
		}
		if got, want := quantity.Compare(s, lastText), want.Cmp(last); got != want {
			t.Fatalf("%q compared with %q is %d, want %d", s, lastText, got, want)
		}
		last, lastText = want, s
		for _, c := range []struct {
			name  string
			of    func(string) (int64, error)
			scale resource.Scale
		}{{"Milli", quantity.Milli, resource.Milli}, {"Value", quantity.Value, 0}} {
			// Skip amounts that k8s.io/apimachinery treats differently. It does not limit values
			// beyond 64 bits, and rounds large negative amounts by two.
			if amount, ok := new(big.Rat).SetString(want.AsDec().String()); !ok || amount.Sign() < 0 || amount.Cmp(big.NewRat(1<<53, 1)) > 0 {
				continue
			}
			if n, err := c.of(s); err != nil || n != want.ScaledValue(c.scale) {
				t.Fatalf("%s of %q is %d, %v; want %d", c.name, s, n, err, want.ScaledValue(c.scale))
			}
		}
	}
	if parsed < 10_000 {
		t.Errorf("only %d texts are quantities", parsed)
	}
}
