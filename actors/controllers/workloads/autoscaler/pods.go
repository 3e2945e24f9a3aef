package autoscaler

import (
	"fmt"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/actors/controllers/workloads/internal/cluster"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/tree"
)

type pod struct{ tree.Tree }

func (p pod) name() string { return p.Name() }

func (p pod) ready() bool {
	return p.Object("status").String("phase") == cluster.PodRunning && tree.IsConditionTrue(p.Object("status"), "Ready")
}

func (p pod) ignored() bool {
	return p.Object("metadata").Has("deletionTimestamp") || p.Object("status").String("phase") == cluster.PodFailed
}

// starting reports whether the Pod is unready, has just become ready, or was never ready. A CPU
// sample may then include the startup, which often needs more CPU.
func (p pod) starting(s sample, o Options, now time.Time) bool {
	status := p.Object("status")
	ready, started := tree.FindCondition(status, "Ready"), reconcile.Time(status, "startTime")
	if ready == nil || started.IsZero() {
		return true
	}
	changed, unready := reconcile.Time(ready, "lastTransitionTime"), ready.String("status") == "False"
	if started.Add(o.CPUInitializationPeriod).After(now) {
		return unready || s.at.Before(changed.Add(s.window))
	}
	return unready && started.Add(o.InitialReadinessDelay).After(changed)
}

// request returns the resource request of the Pod, or of one container. Pod-level requests take
// precedence.
func (p pod) request(resource, container string) (int64, error) {
	spec := p.Object("spec")
	if whole := spec.Object("resources", "requests"); container == "" && len(whole) > 0 {
		if !whole.Has(resource) {
			return 0, fmt.Errorf("missing pod-level request for %s in Pod %s", resource, p.name())
		}
		return thousandths(whole.String(resource))
	}
	sum, found := int64(0), false
	for _, c := range p.runningContainers() {
		if container != "" && c.String("name") != container {
			continue
		}
		requests := c.Object("resources", "requests")
		if !requests.Has(resource) {
			return 0, fmt.Errorf("missing request for %s in container %s of Pod %s", resource, c.String("name"), p.name())
		}
		found = true
		n, err := thousandths(requests.String(resource))
		if err != nil {
			return 0, fmt.Errorf("request for %s in container %s of Pod %s: %w", resource, c.String("name"), p.name(), err)
		}
		sum += n
	}
	if container != "" && !found {
		return 0, fmt.Errorf("container %s not found in Pod %s", container, p.name())
	}
	return sum, nil
}

func (p pod) runningContainers() []tree.Tree {
	all := p.Object("spec").Objects("containers")
	for _, c := range p.Object("spec").Objects("initContainers") {
		if c.String("restartPolicy") == "Always" {
			all = append(all, c)
		}
	}
	return all
}

func thousandths(text string) (int64, error) {
	n, err := quantity.Milli(text)
	if err != nil {
		return 0, fmt.Errorf("%q: %w", text, err)
	}
	return n, nil
}

func amount(n int64, resource string) string {
	return quantity.OfThousandths(n, resource == "memory").String()
}
