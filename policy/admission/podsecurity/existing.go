package podsecurity

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Bounds of the check of existing Pods. The client that labels the namespace waits for the check.
const (
	maxPodsChecked = 3000
	maxCheckTime   = time.Second
)

// An ExistingPod is a stored Pod that is decoded only if it is looked at.
type ExistingPod struct {
	Name       string
	Controller string           // uid of the owner that controls it; "" for none
	Decode     func() tree.Tree // nil if it cannot be read
}

// CheckPods lists, as warnings, which Pods of a namespace would be refused today. It stops at 3000 Pods,
// after a second, or at half of the time that ctx leaves, and says so; of the Pods of one controller, which
// are mostly alike, it looks at one before it looks at others. Nothing is refused: running Pods stay, and
// only their next start would fail. At least one Pod is always looked at.
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

// byController puts the first Pod of each controller, and the Pods without one, before the others.
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

// podViolations are the Pods by what is forbidden of them.
type podViolations map[string]podCount

// A podCount is some Pods: how many, and the first of their names.
type podCount struct {
	name  string
	count int
}

// The first name in order, not in time, keeps the text the same whatever order Pods come in.
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

// texts are the lines for the user, sorted.
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
