package daemon

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
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
		namespaces, garbage := c.runs(builtIn{name: "namespace-controller"}, meta.Platform), c.runs(builtIn{name: "garbage-collector-controller", enabled: onPlatform}, meta.Platform)
		if namespaces != test.namespaces || garbage != test.garbage || (len(f) == 0) != test.valid {
			t.Errorf("%q: %t %t, %v", test.given, namespaces, garbage, f)
		}
		if named := strings.Contains(strings.ReplaceAll(test.given, "garbagecollector", "garbage-collector-controller"), "garbage-collector-controller") && garbage; c.runs(builtIn{name: "garbage-collector-controller", enabled: onlyNamed}, meta.Platform) != named {
			t.Errorf("%q: a controller that is off by itself runs: %t", test.given, !named)
		} else if c.runs(builtIn{name: "garbage-collector-controller", enabled: onPlatform}, meta.Kubernetes) != named {
			t.Errorf("%q: a controller that is off by itself under these names runs: %t", test.given, !named)
		}
	}
}
