package podsecurity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Limits for checking existing Pods. They are low, because the response to a namespace update waits
// for the check.
const (
	maxPodsChecked = 3000
	maxCheckTime   = time.Second
)

// An ExistingPod is a stored Pod that is decoded on demand.
type ExistingPod struct {
	Name       string
	Controller string           // UID of the controlling owner, or ""
	Decode     func() tree.Tree // returns nil for a corrupt object
}

// CheckPods returns warnings about existing Pods that violate lv. It first checks one Pod per
// controller, because a controller's Pods are similar. It stops after 3000 Pods, one second, or
// half the remaining time of ctx, but checks at least one Pod. If it skipped Pods, it adds a
// warning.
func (a *Admission) CheckPods(ctx context.Context, namespace string, lv LevelVersion) []string {
	limit := maxCheckTime
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()

	all := byController(a.objects.Pods(namespace))
	found := podViolations{}
	total, checked := len(all), 0
	for _, p := range all {
		if checked == maxPodsChecked || checked > 0 && ctx.Err() != nil {
			break
		}
		object := p.Decode()
		if a.isExemptClass(object) {
			total--
			continue
		}
		found.add(p.Name, a.evaluator.Evaluate(lv, object))
		checked++
	}
	var warnings []string
	if checked < total {
		warnings = append(warnings, fmt.Sprintf("new PodSecurity enforce level only checked against the first %d of %d existing pods", checked, total))
	}
	if len(found) > 0 {
		warnings = append(warnings, fmt.Sprintf("existing pods in namespace %q violate the new PodSecurity enforce level %q", namespace, lv))
	}
	return append(warnings, found.texts()...)
}

// byController moves Pods without a controller and the first Pod of each controller to the front.
func byController(all []ExistingPod) []ExistingPod {
	sorted, others := make([]ExistingPod, 0, len(all)), []ExistingPod(nil)
	seen := map[string]bool{}
	for _, p := range all {
		if p.Controller != "" && seen[p.Controller] {
			others = append(others, p)
			continue
		}
		seen[p.Controller] = true
		sorted = append(sorted, p)
	}
	return append(sorted, others...)
}

type podViolations map[string]podCount

type podCount struct {
	name  string
	count int
}

// add counts a Pod with the given violations. For each set of reasons, it keeps the alphabetically
// first Pod name, so that messages are deterministic.
func (v podViolations) add(pod string, found Violations) {
	if len(found) == 0 {
		return
	}
	reasons := found.Reasons()
	c := v[reasons]
	if c.count == 0 || pod < c.name {
		c.name = pod
	}
	c.count++
	v[reasons] = c
}

func (v podViolations) texts() []string {
	var lines []string
	for reasons, c := range v {
		others := ""
		if n := c.count - 1; n > 0 {
			others = fmt.Sprintf(" (and %d other %s)", n, plural("pod", "pods", n))
		}
		lines = append(lines, c.name+others+": "+reasons)
	}
	slices.Sort(lines)
	return lines
}
