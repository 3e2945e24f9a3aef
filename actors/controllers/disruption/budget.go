package disruption

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deletionTimeout is how long an evicted Pod counts as disrupted before its deletion begins.
// Without the limit, a crash between eviction and deletion would use up a disruption forever.
const deletionTimeout = 2 * time.Minute

// disruptionAllowed is the condition type that is True if at least one disruption is allowed.
const disruptionAllowed = "DisruptionAllowed"

// A member is a Pod that a budget selects. leaving is set if the Pod is terminating.
type member struct {
	name    string
	ready   bool
	leaving bool
}

// count holds the Pod counts of a budget's status.
type count struct{ expected, healthy, desired int64 }

// allowed returns the number of Pods that may be evicted. It returns 0 for a budget without Pods,
// because new Pods must be counted first.
func (c count) allowed() int64 {
	if c.expected <= 0 {
		return 0
	}
	return max(c.healthy-c.desired, 0)
}

func countHealthy(pods []member, disrupted map[string]time.Time, now time.Time) (healthy int64) {
	for _, p := range pods {
		if at, evicted := disrupted[p.name]; p.leaving || evicted && at.Add(deletionTimeout).After(now) {
			continue
		}
		if p.ready {
			healthy++
		}
	}
	return healthy
}

// stillDisrupted returns the evicted Pods whose deletion has not begun. overdue lists the Pods that
// were evicted more than deletionTimeout ago, and still maps the others to their eviction times.
// recheck is the time at which the next Pod becomes overdue, or zero. An eviction adds the Pod to
// disruptedPods before it deletes the Pod, so entries for terminating or deleted Pods are obsolete.
func stillDisrupted(pods []member, status tree.Tree, now time.Time) (still map[string]time.Time, overdue []string, recheck time.Time) {
	still = map[string]time.Time{}
	for _, p := range pods {
		at, err := time.Parse(time.RFC3339, status.Object("disruptedPods").String(p.name))
		if err != nil || p.leaving {
			continue
		}
		due := at.Add(deletionTimeout)
		if due.Before(now) {
			overdue = append(overdue, p.name)
			continue
		}
		still[p.name] = at
		if recheck.IsZero() || due.Before(recheck) {
			recheck = due
		}
	}
	return still, overdue, recheck
}

// desired returns the number of expected Pods and the number that must be healthy. scale returns
// the total replicas of the Pods' controllers. An integer minAvailable does not need scale and
// therefore works for Pods without a controller. A budget without minAvailable and maxUnavailable
// allows no disruption.
func desired(spec tree.Tree, pods int, scale func() (int64, error)) (c count, err error) {
	switch {
	case spec.Has("maxUnavailable"):
		if c.expected, err = scale(); err != nil {
			return c, err
		}
		unavailable, err := scaled(spec["maxUnavailable"], c.expected)
		c.desired = max(c.expected-unavailable, 0)
		return c, err
	case !spec.Has("minAvailable"):
		return c, nil
	}
	if n, ok := spec.Int("minAvailable"); ok {
		return count{expected: int64(pods), desired: n}, nil
	}
	if c.expected, err = scale(); err != nil {
		return c, err
	}
	c.desired, err = scaled(spec["minAvailable"], c.expected)
	return c, err
}

// scaled returns an integer value unchanged, or a percentage of all, rounded up.
func scaled(value any, all int64) (int64, error) {
	switch v := value.(type) {
	case int64:
		return v, nil
	case string:
		if digits, ok := strings.CutSuffix(v, "%"); ok {
			if percent, err := strconv.ParseInt(digits, 10, 32); err == nil {
				return int64(math.Ceil(float64(percent) * float64(all) / 100)), nil
			}
		}
	}
	return 0, fmt.Errorf("invalid value for IntOrString: invalid type: string is not a percentage")
}

func newStatus(old tree.Tree, generation int64, c count, disrupted map[string]time.Time, now time.Time) tree.Tree {
	status := tree.Tree{
		"observedGeneration": generation, "disruptionsAllowed": c.allowed(), "currentHealthy": c.healthy, "desiredHealthy": c.desired, "expectedPods": c.expected,
	}
	if len(disrupted) > 0 {
		pods := tree.Tree{}
		for name, at := range disrupted {
			pods[name] = at.UTC().Format(time.RFC3339)
		}
		status["disruptedPods"] = pods
	}
	if c.allowed() > 0 {
		setCondition(status, old, "True", "SufficientPods", "", generation, now)
	} else {
		setCondition(status, old, "False", "InsufficientPods", "", generation, now)
	}
	return status
}

func failedStatus(old tree.Tree, why string, now time.Time) tree.Tree {
	status := old.Copy()
	status["disruptionsAllowed"] = int64(0)
	generation, _ := old.Int("observedGeneration")
	setCondition(status, old, "False", "SyncFailed", why, generation, now)
	return status
}

func setCondition(status, old tree.Tree, is, reason, message string, generation int64, now time.Time) {
	c := reconcile.NewCondition(disruptionAllowed, is, reason, message, now)
	c["observedGeneration"] = generation
	if before := tree.FindCondition(old, disruptionAllowed); before.String("status") == is {
		c.CopyField(before, "lastTransitionTime")
	}
	status["conditions"] = append([]any{c}, reconcile.RemoveCondition(old.List("conditions"), disruptionAllowed)...)
}
