package policy_test

import (
	"testing"

	"github.com/troupe-api/troupe/policy/authz"
)

// TestSelectorsField tests that only conditions that leave one value count.
func TestSelectorsField(t *testing.T) {
	for _, c := range []struct {
		text, value string
		ok          bool
	}{
		{"a=x", "x", true},
		{"b=y,a==x", "x", true},
		{"a=", "", true},
		{"a!=x", "", false},
		{"b=x", "", false},
		{"a=x,b", "", false},
		{"", "", false},
	} {
		if value, ok := authz.ReadSelectors(c.text, "").Field("a"); value != c.value || ok != c.ok {
			t.Errorf("%q: got %q, %t", c.text, value, ok)
		}
	}
}
