package daemon

import "testing"

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
		{"garbagecollector", false, false, false},
	} {
		c := Controllers(test.given)
		var f faults
		c.validate(&f)
		if c.Runs(namespaceController) != test.namespaces || c.Runs(garbageCollector) != test.garbage || (len(f) == 0) != test.valid {
			t.Errorf("%q: %t %t, %v", test.given, c.Runs(namespaceController), c.Runs(garbageCollector), f)
		}
	}
}
