package scenario

import (
	"fmt"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// All curves on the real daemon, at sizes so small that only the rows are looked at.
func TestGrowth(t *testing.T) {
	s := startTroupe(t)
	samples := map[string]*measure.Sample{}
	g := &growth{session: s, record: func(curve measure.Curve, series, _ string, size int, sample *measure.Sample) {
		samples[fmt.Sprint(curve.Name, "/", series, "/", size)] = sample
	}}
	for name, measure := range map[string]func() error{
		"objects":   func() error { return g.objects(t.Context()) },
		"watchers":  func() error { return g.watchers(t.Context()) },
		"bindings":  func() error { return g.bindings(t.Context()) },
		"selectors": func() error { return g.selectors(t.Context()) },
	} {
		if err := measure(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, want := range []string{"get//2", "create//200", "list//20", "watch/one at a time/1", "watch/in bursts/4",
		"rbac/certificate/1", "rbac/service account/100", "selector/indexed field/6", "selector/other field/600"} {
		if r := samples[want]; r == nil || r.Operations == 0 {
			t.Errorf("%s: %+v", want, r)
		}
	}
	for name, sample := range samples {
		if sample.Errors > 0 {
			t.Errorf("%s: %d errors, first %s", name, sample.Errors, sample.FirstError)
		}
	}
}
