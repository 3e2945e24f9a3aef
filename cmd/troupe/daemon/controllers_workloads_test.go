package daemon

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
)

// TestWorkloadControllers checks that workload controllers run only if --controllers names them or
// their group.
func TestWorkloadControllers(t *testing.T) {
	for given, want := range map[string][]string{
		"*":                        nil,
		"*,job":                    {"job-controller"},
		"*,workloads,-cronjob":     {"daemonset-controller", "deployment-controller", "horizontal-pod-autoscaler-controller", "job-controller", "replicaset-controller", "replicationcontroller-controller", "statefulset-controller"},
		"deployment,replicaset":    {"deployment-controller", "replicaset-controller"},
		"-workloads":               nil,
		"*,statefulset-controller": {"statefulset-controller"},
	} {
		c := Controllers(given)
		var f faults
		c.validate(&f)
		var got []string
		for _, b := range workloadControllers {
			if c.runs(b, meta.Kubernetes) {
				got = append(got, b.name)
			}
		}
		if !slices.Equal(got, want) || len(f) > 0 {
			t.Errorf("%q: %v, want %v; %v", given, got, want, f)
		}
	}
}
