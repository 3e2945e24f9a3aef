package disruption

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/condition"
	"github.com/troupe-api/troupe/kinds/tree"
)

// deletionTimeout is how long an evicted Pod may take until its deletion begins. After that it counts again.
// Without it a crash between the eviction and the deletion would block one disruption for ever.
const deletionTimeout = 2 * time.Minute

// disruptionAllowed is the type of a budget's condition.
// Its status is True exactly when the budget allows at least one disruption.
const disruptionAllowed = "DisruptionAllowed"

// A member is a Pod of a budget.
// leaving says that its deletion has begun.
type member struct {
	name    string
	ready   bool
	leaving bool
}

// A count is what the status of a budget says of its Pods.
//
// expected is how many Pods there should be, healthy how many are ready now, and desired how many of them must stay.
type count struct{ expected, healthy, desired int64 }

// allowed is how many Pods may go. A budget without Pods allows none: its first Pods are not to be evicted before they have
// been counted.
func (c count) allowed() int64 {
	if c.expected <= 0 {
		return 0
	}
	return max(c.healthy-c.desired, 0)
}

// countHealthy counts the Pods that are ready and are to stay.
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

// stillDisrupted are those evicted Pods whose deletion has not begun and may still do so; overdue are those that it has not
// in time. recheck is when the next one is due; zero if none is.
//
// Evictions write the names and times of Pods into disruptedPods before they delete them. An entry is no longer
// needed once the Pod is gone or is being deleted, as the Pod itself then tells that it does not count.
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

// desired is how many Pods are to be healthy, and how many there should be. scale tells how many the owners of the Pods
// want; it is asked only if that counts.
//
// A whole number in minAvailable needs no scale, so that it is the only form that works for Pods without a
// controller. A budget with neither field expects nothing, and so allows nothing.
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

// scaled is a number, or a percentage of all, rounded up.
// For minAvailable the rounding keeps one Pod more, for maxUnavailable it lets one more go.
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

// newStatus is the status that a count makes of the one from before.
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

// failedStatus is the status of a budget whose Pods cannot be counted.
// It allows nothing: when in doubt, Pods stay. The other numbers remain as they were counted last.
func failedStatus(old tree.Tree, why string, now time.Time) tree.Tree {
	status := old.Copy()
	status["disruptionsAllowed"] = int64(0)
	generation, _ := old.Int("observedGeneration")
	setCondition(status, old, "False", "SyncFailed", why, generation, now)
	return status
}

// setCondition says in a status whether anything may go. The other conditions stay as they were, and so does the time if
// the answer is the same.
func setCondition(status, old tree.Tree, is, reason, message string, generation int64, now time.Time) {
	c := reconcile.NewCondition(disruptionAllowed, is, reason, message, now)
	c["observedGeneration"] = generation
	if before := condition.Find(old, disruptionAllowed); before.String("status") == is {
		c.CopyField(before, "lastTransitionTime")
	}
	status["conditions"] = append([]any{c}, reconcile.RemoveCondition(old.List("conditions"), disruptionAllowed)...)
}
