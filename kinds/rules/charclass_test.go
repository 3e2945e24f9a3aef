package rules

import (
	"math/rand/v2"
	"regexp"
	"testing"
)

func TestCharClassesMatchPatterns(t *testing.T) {
	const often, seldom = "az09-.", "bZAZ_ \n/@[`{:é\x00"
	random := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		pattern string
		is      func(string) bool
	}{
		{labelPattern, isLabel}, {label1035Pattern, isLabel1035}, {subdomainPattern, isSubdomain},
		{qualifiedPattern, isQualified}, {labelValue, isLabelValue}, {configKeyPattern, isConfigKey},
	} {
		re, yes := regexp.MustCompile("^(?:"+c.pattern+")$"), 0
		for range 100_000 {
			s := make([]byte, random.IntN(6))
			for i := range s {
				from := seldom
				if random.IntN(3) > 0 {
					from = often
				}
				s[i] = from[random.IntN(len(from))]
			}
			want := re.Match(s)
			if got := c.is(string(s)); got != want {
				t.Fatalf("%q is %v, but for %s it is %v", s, got, c.pattern, want)
			}
			if want {
				yes++
			}
		}
		if yes < 1000 {
			t.Errorf("only %d texts are of %s", yes, c.pattern)
		}
	}
}
