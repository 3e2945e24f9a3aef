package quantity_test

import (
	"errors"
	"math/big"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/quantity"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"0", "0"}, {"-0", "0"}, {"0Ki", "0"}, {"0.000", "0"}, {"0e5", "0"}, {"+5", "5"}, {"007", "7"},
		{"1", "1"}, {"10", "10"}, {"100", "100"}, {"1000", "1k"}, {"1100", "1100"}, {"1200000", "1200k"},
		{"500m", "500m"}, {"0.5", "500m"}, {".5", "500m"}, {"5.", "5"}, {"1500m", "1500m"}, {"1000m", "1"},
		{"2000m", "2"}, {"1.5", "1500m"}, {"0.25", "250m"}, {"0.001", "1m"}, {"0.0001", "100u"}, {"1u", "1u"},
		{"1000u", "1m"}, {"1n", "1n"}, {"0.1n", "1n"}, {"1.1n", "2n"}, {"-0.1n", "-1n"}, {"-1.1n", "-2n"},
		{"1k", "1k"}, {"1000k", "1M"}, {"1500k", "1500k"}, {"1.5M", "1500k"}, {"1G", "1G"}, {"1T", "1T"},
		{"1P", "1P"}, {"1E", "1E"}, {"1000E", "1000E"}, {"-1", "-1"}, {"-1500m", "-1500m"},
		{"1Ki", "1Ki"}, {"1024", "1024"}, {"1024Ki", "1Mi"}, {"1536Mi", "1536Mi"}, {"1.5Gi", "1536Mi"},
		{"0.5Ki", "512"}, {"0.5Mi", "512Ki"}, {"1000Ki", "1000Ki"}, {"1Gi", "1Gi"}, {"1Ti", "1Ti"}, {"1Pi", "1Pi"},
		{"1Ei", "1Ei"}, {"7Ei", "7Ei"}, {"8Ei", "9223372036854775807"}, {"-9Ei", "-9223372036854775807"},
		{"-2Ki", "-2Ki"}, {"-0.5Ki", "-512"}, {"1.0001Ki", "1024102400u"}, {"0.1Gi", "107374182400m"},
		{"1e3", "1e3"}, {"1E3", "1e3"}, {"1e4", "10e3"}, {"5e0", "5"}, {"1e-3", "1e-3"}, {"1.5e3", "1500"},
		{"1e2", "100"}, {"12e6", "12e6"}, {"1e-10", "1e-9"}, {"1e30", "1e30"}, {"1e+3", "1e3"},
		{"+", "0"}, {"-.", "0"}, {"m", "0"}, {"-Ti", "0"}, {"e-9", "0"}, {"9223372036854775808", "9223372036854775808"}, {"123456789012345678901234567890", "123456789012345678901234567890"},
	} {
		got, err := quantity.Parse(c.in)
		if err != nil || got != c.want {
			t.Errorf("Parse(%q) = %q, %v; want %q", c.in, got, err, c.want)
		}
		if again, err := quantity.Parse(got); err != nil || again != got {
			t.Errorf("Parse(%q) = %q, %v: the canonical form is not stable", got, again, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		in   string
		want error
	}{
		{"", quantity.ErrFormat}, {"x", quantity.ErrFormat}, {"1 ", quantity.ErrFormat}, {" 1", quantity.ErrFormat},
		{"1x", quantity.ErrFormat}, {"1Kix", quantity.ErrFormat}, {"１", quantity.ErrFormat}, {"1.2.3", quantity.ErrFormat},
		{"Pi", quantity.ErrNumeric}, {"-Ei", quantity.ErrNumeric}, {".e-10", quantity.ErrNumeric}, {"--1", quantity.ErrSuffix}, {"i", quantity.ErrSuffix},
		{"1e", quantity.ErrSuffix}, {"1K", quantity.ErrSuffix}, {"1mi", quantity.ErrSuffix}, {"1Mik", quantity.ErrSuffix},
		{"1e1001", quantity.ErrSuffix}, {"1e99999999999999999999", quantity.ErrSuffix}, {"1e-", quantity.ErrSuffix},
		{"1k3", quantity.ErrSuffix}, {strings.Repeat("1", 500), quantity.ErrFormat},
	} {
		if got, err := quantity.Parse(c.in); !errors.Is(err, c.want) {
			t.Errorf("Parse(%q) = %q, %v; want %v", c.in, got, err, c.want)
		}
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1", "1000m", 0}, {"1k", "1Ki", -1}, {"1Gi", "1024Mi", 0}, {"1G", "1Gi", -1}, {"-1", "1", -1},
		{"0", "-0", 0}, {"2", "1", 1}, {"-2", "-1", -1}, {"1e3", "1k", 0}, {"0.1", "100m", 0},
		{"9223372036854775807", "9223372036854775808", -1}, {"1e30", "1E", 1}, {"1n", "0", 1},
	} {
		if got := quantity.Compare(c.a, c.b); got != c.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := quantity.Compare(c.b, c.a); got != -c.want {
			t.Errorf("Compare(%q, %q) = %d, want %d", c.b, c.a, got, -c.want)
		}
	}
}

var amounts = map[string]string{
	"n": "1e-9", "u": "1e-6", "m": "1e-3", "": "1", "k": "1e3", "M": "1e6", "G": "1e9", "T": "1e12", "P": "1e15", "E": "1e18",
	"Ki": "1024", "Mi": "1048576", "Gi": "1073741824", "Ti": "1099511627776", "Pi": "1125899906842624", "Ei": "1152921504606846976",
}

func value(t *testing.T, s string) *big.Rat {
	i := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("+-.0123456789", r) })
	number, suffix := s, ""
	if i >= 0 {
		number, suffix = s[:i], s[i:]
	}
	factor, ok := amounts[suffix]
	if !ok {
		factor = "1" + suffix
	}
	n, ok1 := new(big.Rat).SetString(number)
	f, ok2 := new(big.Rat).SetString(factor)
	if !ok1 || !ok2 {
		t.Fatalf("the oracle cannot read %q", s)
	}
	return n.Mul(n, f)
}

func TestAgainstRationals(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	suffixes := []string{"", "m", "u", "n", "k", "M", "G", "Ki", "Mi", "Gi", "Ti", "e3", "e-2", "e7"}
	limit := new(big.Rat).SetInt64(1<<63 - 1)
	step := big.NewRat(1, 1e9)
	texts := make([]string, 0, 3000)
	for range 3000 {
		s := strconv.FormatInt(random.Int63n(1<<uint(1+random.Intn(40))), 10)
		if random.Intn(2) == 0 {
			s += "." + strconv.FormatInt(random.Int63n(1e4), 10)
		}
		if random.Intn(4) == 0 {
			s = "-" + s
		}
		texts = append(texts, s+suffixes[random.Intn(len(suffixes))])
	}
	for i, s := range texts {
		exact := value(t, s)
		got, err := quantity.Parse(s)
		if err != nil {
			t.Fatalf("Parse(%q): %v", s, err)
		}
		diff := new(big.Rat).Sub(value(t, got), exact)
		if new(big.Rat).Abs(exact).Cmp(limit) <= 0 && (diff.Abs(diff).Cmp(step) >= 0) {
			t.Errorf("Parse(%q) = %q, which is another amount", s, got)
		}
		if other := texts[(i*7+1)%len(texts)]; quantity.Compare(got, canonical(t, other)) != value(t, got).Cmp(value(t, canonical(t, other))) {
			t.Errorf("Compare(%q, %q) is wrong", s, other)
		}
	}
}

func canonical(t *testing.T, s string) string {
	got, err := quantity.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1", "1.5Gi", "-0.1n", "1e3", "", "1e-999", "8Ei"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := quantity.Parse(s)
		if err != nil {
			return
		}
		if again, err := quantity.Parse(got); err != nil || again != got {
			t.Errorf("Parse(%q) = %q, then %q, %v", s, got, again, err)
		}
	})
}

func TestFloat(t *testing.T) {
	for s, want := range map[string]float64{"0": 0, "1500m": 1.5, "-2": -2, "1Ki": 1024, "3k": 3000, "1e3": 1000, "x": 0} {
		if got := quantity.Float(s); got != want {
			t.Errorf("Float(%s) = %v, want %v", s, got, want)
		}
	}
}

func TestWholeThousandths(t *testing.T) {
	for s, want := range map[string]string{
		"1n": "1m", "-1n": "-1m", "0": "0", "1500u": "2m", "1001u": "2m", "2m": "2m", "3": "3", "128Mi": "128Mi", "1e-9": "1e-3", "1001e-6": "2e-3",
		"307200m": "307200m", "1024102400u": "1024103m", "1e3": "1e3", "x": "x", "": "",
		"123456789012345678901234567890000010u": "123456789012345678901234567890001m",
	} {
		if got := quantity.WholeThousandths(s); got != want {
			t.Errorf("WholeThousandths(%s) = %s, want %s", s, got, want)
		}
	}
}
