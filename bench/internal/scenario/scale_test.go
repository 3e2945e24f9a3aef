package scenario

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/bench/internal/measure"
)

// Both stores are measured at all sizes and under all loads, and no daemon or etcd is left.
func TestScale(t *testing.T) {
	s := session(t, fakeConfig(t))
	s.StartEtcd, s.Scale = os.Args[0], 0.0001
	results, err := workload(t, "scale").Run(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, store := range []string{"disk", "etcd"} {
		for _, objects := range []int{0, 1, 5} {
			whats := []string{"start", "memory"}
			if store == "etcd" {
				whats = append(whats, "bytes", "start without a copy")
			}
			for _, what := range whats {
				want = append(want, fmt.Sprintf("scale, %s, %s, %s", store, what, measure.Plural(objects, "object")))
			}
		}
		for _, load := range []string{"1 client", "8 clients", "32 clients", "128 clients", "500 updates a second", "2,000 updates a second"} {
			want = append(want, "scale, "+store+", "+load)
		}
		want = append(want, "scale, "+store+", client")
	}
	want = append(want, "scale, etcd, followed", "scale, etcd, follower")
	for _, name := range want {
		r := row(t, results, name)
		if r.Sample != nil && (r.Sample.Errors > 0 || r.Sample.Operations != s.Count) {
			t.Errorf("%s: %d operations, %d errors, first %q", name, r.Sample.Operations, r.Sample.Errors, r.Sample.FirstError)
		}
		if r.Sample == nil && (r.Figure == nil || r.Figure.Value <= 0) && !strings.HasSuffix(name, ", client") { // too few to cost the client a tick
			t.Errorf("%s: figure %v", name, r.Figure)
		}
	}
	if len(results) != len(want) {
		t.Errorf("%d rows, want %d", len(results), len(want))
	}
	// The daemons that the workload started ended with it: their directories are empty again.
	left, err := os.ReadDir(s.TempDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
