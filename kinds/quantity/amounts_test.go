package quantity_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/quantity"
)

func TestAdd(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"1", "500m", "1500m"}, {"1Gi", "512Mi", "1536Mi"}, {"0", "1Gi", "1Gi"}, {"1G", "1Ki", "1000001024"},
		{"1Ki", "1", "1025"}, {"1", "0", "1"}, {"100n", "900n", "1u"}, {"1e3", "1", "1001"},
	} {
		a, _ := quantity.Read(c.a)
		b, _ := quantity.Read(c.b)
		if sum := a.Add(b); sum.String() != c.want {
			t.Errorf("%s + %s = %s, want %s", c.a, c.b, sum.String(), c.want)
		}
		if a.String() != mustParse(t, c.a) {
			t.Errorf("%s became %s", c.a, a.String())
		}
	}
}

func mustParse(t *testing.T, s string) string {
	t.Helper()
	s, err := quantity.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
