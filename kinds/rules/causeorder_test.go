package rules_test

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestCauseOrder(t *testing.T) {
	for _, c := range []struct {
		own  []string // fields that the function reports, in this order
		want string
	}{
		{nil, "spec.size spec.top"},
		{[]string{"spec.must"}, "spec.size spec.must spec.top"},
		{[]string{"spec.zone", "spec.must"}, "spec.size spec.top spec.zone spec.must"},
		{[]string{"status.a", "spec"}, "spec.size spec.top status.a spec"},
		{[]string{"spec", "spec.top"}, "spec spec.size spec.top"},
	} {
		k := sample(t)
		k.Strategy = validating{validate: func(f *schema.Faults) {
			for _, field := range c.own {
				f.Invalid(field, int64(0), "no")
			}
		}}
		var got []string
		for _, cause := range rules.Validate(k, parseTree(t, `{"metadata":{"name":"x"},"spec":{"must":1,"size":-1,"top":6}}`)) {
			got = append(got, cause.Field)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.own, got, c.want)
		}
	}
}
