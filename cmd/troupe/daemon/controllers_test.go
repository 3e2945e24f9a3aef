package daemon

import (
	"strings"
	"testing"
)

func TestControllersRun(t *testing.T) {
	for _, test := range []struct {
		given                      string
		namespaces, garbage, valid bool
	}{
		{"*", true, true, true},
		{"*,-garbage-collector-controller", true, false, true},
		{"-garbage-collector-controller, *", true, false, true},
		{"namespace-controller", true, false, true},
		{"-namespace-controller", false, false, true},
		{"*,-garbage-collector-controller,garbage-collector-controller", true, true, true},
		{"", false, false, false},
		{"*,-*", true, true, false},
		{"garbagecollector", false, true, true},
		{"*,-garbagecollector", true, false, true},
		{"garbage", false, false, false},
		{"-", false, false, false},
	} {
		c := Controllers(test.given)
		var f faults
		c.validate(&f)
		namespaces, garbage := c.runs(builtIn{name: "namespace-controller"}), c.runs(builtIn{name: "garbage-collector-controller"})
		if namespaces != test.namespaces || garbage != test.garbage || (len(f) == 0) != test.valid {
			t.Errorf("%q: %t %t, %v", test.given, namespaces, garbage, f)
		}
		if named := strings.Contains(strings.ReplaceAll(test.given, "garbagecollector", "garbage-collector-controller"), "garbage-collector-controller") && garbage; c.runs(builtIn{name: "garbage-collector-controller", offByDefault: true}) != named {
			t.Errorf("%q: a controller that is off by itself runs: %t", test.given, !named)
		}
	}
}
