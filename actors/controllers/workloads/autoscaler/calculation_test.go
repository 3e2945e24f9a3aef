package autoscaler

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/troupe-api/troupe/internal/must"
	"github.com/troupe-api/troupe/kinds/tree"
)

var (
	now     = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	options = Options{CPUInitializationPeriod: 5 * time.Minute, InitialReadinessDelay: 30 * time.Second}
)

func stamp(ago int) string { return now.Add(-time.Duration(ago) * time.Second).Format(time.RFC3339) }

// makePod returns a Pod that requests 1 CPU and is in the given state. "going" means terminating.
// "unready" means unready since the Pod's start an hour ago, and "broken" means unready for a
// minute. "fresh" means ready for 20 seconds.
func makePod(name, state string) pod {
	ready, changed, started, phase := "True", 3000, 3600, "Running"
	metadata := tree.Tree{"name": name}
	switch state {
	case "pending":
		phase = "Pending"
	case "failed":
		phase = "Failed"
	case "going":
		metadata["deletionTimestamp"] = stamp(1)
	case "unready":
		ready, changed = "False", 3600
	case "broken":
		ready, changed = "False", 60
	case "fresh":
		started, changed = 60, 20
	}
	return pod{tree.Tree{
		"metadata": metadata,
		"spec": tree.Tree{"containers": []any{
			tree.Tree{"name": "c", "resources": tree.Tree{"requests": tree.Tree{"cpu": "600m"}}},
			tree.Tree{"name": "d", "resources": tree.Tree{"requests": tree.Tree{"cpu": "0.4"}}},
		}},
		"status": tree.Tree{"phase": phase, "startTime": stamp(started), "conditions": []any{
			tree.Tree{"type": "Ready", "status": ready, "lastTransitionTime": stamp(changed)},
		}},
	}}
}

// TestUtilization checks the number of replicas computed from CPU usage, with a target of 50% of
// the request.
func TestUtilization(t *testing.T) {
	type pods = []string // state and optional usage in percent, as "state:50"; without usage there is no sample
	for _, c := range []struct {
		name    string
		pods    pods
		current int64
		want    int64
		percent int64
	}{
		{"as it should be", pods{"running:50", "running:50"}, 2, 2, 50},
		{"within the tolerance", pods{"running:54", "running:55"}, 2, 2, 54},
		{"just outside", pods{"running:56", "running:56"}, 2, 3, 56},
		{"up", pods{"running:100", "running:100", "running:100"}, 3, 6, 100},
		{"down", pods{"running:10", "running:10", "running:10", "running:10"}, 4, 1, 10},
		{"a pending one counts nothing of what the others need", pods{"running:100", "running:100", "pending"}, 3, 4, 100},
		{"one that starts, too", pods{"running:100", "running:100", "fresh:500"}, 3, 4, 100},
		{"one that was never ready, too", pods{"running:100", "running:100", "unready:500"}, 3, 4, 100},
		{"one that has broken down counts", pods{"running:100", "running:100", "broken:100"}, 3, 6, 100},
		{"what goes or has failed does not", pods{"running:100", "going:0", "failed:0"}, 3, 2, 100},
		{"starting ones do not hinder fewer", pods{"running:10", "running:10", "fresh:500"}, 3, 1, 10},
		{"a missing one uses all, for fewer", pods{"running:10", "running:10", "running"}, 3, 3, 10},
		{"a missing one uses nothing, for more", pods{"running:100", "running:100", "running"}, 3, 4, 100},
		{"no change turns around", pods{"running:60", "running"}, 2, 2, 60},
		{"nor with starting ones", pods{"running:70", "pending", "pending"}, 3, 3, 70},
	} {
		m, all := samples{}, []pod(nil)
		for i, p := range c.pods {
			var state string
			var percent int64
			name := fmt.Sprint("p", i)
			n, _ := fmt.Sscanf(split(p), "%s %d", &state, &percent)
			all = append(all, makePod(name, state))
			if n == 2 {
				m[name] = sample{value: 10 * percent, at: now, window: time.Minute}
			}
		}
		k := &calculation{current: c.current, pods: all, resource: "cpu", tolerance: tolerance{0.1, 0.1}, options: options, now: now}
		must.Succeed(t, k.utilization(50, ""))
		if got, seen, err := k.replicas(m); got != c.want || seen.percent != c.percent || err != nil {
			t.Errorf("%s: %d at %d %%, %v; want %d at %d %%", c.name, got, seen.percent, err, c.want, c.percent)
		}
	}
}

func split(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == ':' {
			b[i] = ' '
		}
	}
	return string(b)
}

func TestNoReplicas(t *testing.T) {
	running, pending := makePod("a", "running"), makePod("a", "pending")
	for _, c := range []struct {
		pods []pod
		m    samples
		want string
	}{
		{nil, samples{"a": {}}, "no pods returned by selector while calculating replica count"},
		{[]pod{pending}, samples{"a": {}}, "did not receive metrics for targeted pods (pods might be unready)"},
		{[]pod{running}, samples{"b": {}}, "no metrics returned matched known pods"},
	} {
		k := &calculation{current: 1, pods: c.pods, options: options, now: now}
		k.resource = "cpu"
		must.Succeed(t, k.utilization(50, ""))
		if _, _, err := k.replicas(c.m); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestRequests(t *testing.T) {
	p := makePod("a", "running")
	whole := makePod("b", "running")
	whole.Object("spec")["resources"] = tree.Tree{"requests": tree.Tree{"cpu": "2"}}
	whole.Object("spec")["initContainers"] = []any{tree.Tree{"name": "s", "restartPolicy": "Always", "resources": tree.Tree{"requests": tree.Tree{"cpu": "1"}}}}
	for _, c := range []struct {
		pod                 pod
		resource, container string
		want                int64
		err                 string
	}{
		{p, "cpu", "", 1000, ""},
		{p, "cpu", "d", 400, ""},
		{p, "cpu", "x", 0, "container x not found in Pod a"},
		{p, "memory", "", 0, "missing request for memory in container c of Pod a"},
		{whole, "cpu", "", 2000, ""},
		{whole, "memory", "", 0, "missing pod-level request for memory in Pod b"},
		{whole, "cpu", "s", 1000, ""},
	} {
		got, err := c.pod.request(c.resource, c.container)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s of %s: %d, %v; want %d %s", c.resource, c.container, got, err, c.want, c.err)
		}
	}
}

func TestValues(t *testing.T) {
	pods := []pod{makePod("a", "running"), makePod("b", "running"), makePod("c", "pending")}
	for _, c := range []struct{ current, value, target, want int64 }{
		{3, 105, 100, 3}, {3, 200, 100, 4}, {3, 50, 100, 1}, {0, 250, 100, 3}, {0, 0, 100, 0}, {3, math.MaxInt64, 1, math.MaxInt32},
	} {
		k := &calculation{current: c.current, pods: pods, tolerance: tolerance{0.1, 0.1}}
		if got, err := k.forValue(c.value, c.target); got != c.want || err != nil {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
	for _, c := range []struct{ value, target, replicas, want, share int64 }{
		{310, 100, 3, 3, 104}, {400, 100, 3, 4, 134}, {100, 100, 3, 1, 34}, {400, 100, 0, 4, 0},
	} {
		if got, share := forShare(c.value, c.target, c.replicas, tolerance{0.1, 0.1}); got != c.want || share != c.share {
			t.Errorf("%+v: %d, %d", c, got, share)
		}
	}
}
