package kinds_test

import (
	"math/rand/v2"
	"testing"

	"github.com/troupe-api/troupe/kinds/amount"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestSums(t *testing.T) {
	for _, c := range []struct{ a, b, sum, difference string }{
		{"1", "2", "3", "-1"},
		{"0", "1Gi", "1Gi", "-1Gi"},
		{"1Gi", "512Mi", "1536Mi", "512Mi"},
		{"1Gi", "1G", "2073741824", "73741824"},
		{"1G", "1Gi", "2073741824", "-73741824"},
		{"100m", "900m", "1", "-800m"},
		{"1n", "1", "1000000001n", "-999999999n"},
		{"1e3", "1k", "2e3", "0"},
		{"8Pi", "8Pi", "16Pi", "0"},
		{"4E", "5E", "9E", "-1E"},
		{"1Mi", "-1Mi", "0", "2Mi"},
	} {
		a, b := amount.Read(c.a), amount.Read(c.b)
		if got := a.Add(b).String(); got != c.sum {
			t.Errorf("%s + %s = %s, want %s", c.a, c.b, got, c.sum)
		}
		if got := a.Sub(b).String(); got != c.difference {
			t.Errorf("%s - %s = %s, want %s", c.a, c.b, got, c.difference)
		}
		if got, want := a.Cmp(b), quantity.Compare(c.a, c.b); got != want {
			t.Errorf("%s compared with %s is %d, want %d", c.a, c.b, got, want)
		}
	}
	for in, want := range map[string]string{"1500m": "2", "3": "3", "1n": "1", "1.5Gi": "1536Mi", "0": "0"} {
		if got := amount.Read(in).RoundUp().String(); got != want {
			t.Errorf("%s rounded up is %s, want %s", in, got, want)
		}
	}
	if _, err := amount.Parse("x"); err == nil {
		t.Error("x is an amount")
	}
}

func TestIntegersAgreeWithDecimals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	suffixes := []string{"", "m", "k", "Ki", "Mi", "Gi", "Ti", "n", "Pi", "T"}
	for range 2000 {
		var sum amount.Amount
		var exact quantity.Quantity
		var parts []amount.Amount
		for range 1 + random.IntN(20) {
			s := string(rune('1'+random.IntN(9))) + string(rune('0'+random.IntN(10))) + suffixes[random.IntN(len(suffixes))]
			q, _ := quantity.Read(s)
			parts = append(parts, amount.Read(s))
			sum, exact = sum.Add(amount.Read(s)), exact.Add(q)
		}
		if want, _ := amount.Parse(exact.String()); sum.Cmp(want) != 0 {
			t.Fatalf("the sum of %v is %v, want %v", parts, sum, want)
		}
		random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for _, p := range parts {
			sum = sum.Sub(p)
		}
		if sum.Sign() != 0 {
			t.Fatalf("%v is left of %v", sum, parts)
		}
	}
}

func TestOfContainers(t *testing.T) {
	container := func(policy, cpu string) any {
		return tree.Tree{"restartPolicy": policy, "resources": tree.Tree{"requests": tree.Tree{"cpu": cpu}}}
	}
	for want, c := range map[string][2][]any{
		"cpu=3":     {nil, {container("", "1"), container("", "2")}},
		"cpu=5":     {{container("", "5")}, {container("", "1")}},
		"cpu=4":     {{container("Always", "1"), container("", "3")}, {container("", "1")}},
		"cpu=1500m": {{container("", "1"), container("Always", "500m")}, {container("", "1")}},
		"":          {},
	} {
		spec := tree.Tree{"initContainers": c[0], "containers": c[1]}
		if got := amount.OfContainers(spec, amount.Declared("requests")).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	list := amount.ListOf(tree.Tree{"cpu": "1500m", "memory": "1Gi", "pages": "2"})
	list.Raise(amount.ListOf(tree.Tree{"cpu": "1", "memory": "2Gi", "disk": "1"}))
	if got, want := list.String(), "cpu=1500m,disk=1,memory=2Gi,pages=2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
