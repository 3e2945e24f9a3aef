package autoscaler

import (
	"math"
	"time"

	"github.com/troupe-api/troupe/kinds/tree"
)

// A history holds an autoscaler's recent recommendations and replica count changes. It is not safe
// for concurrent use.
type history struct {
	recommendations []event
	ups, downs      []event // added and removed replicas
}

type event struct {
	replicas int64
	at       time.Time
}

func dropBefore(events []event, cutoff time.Time) []event {
	kept := events[:0]
	for _, e := range events {
		if !e.at.Before(cutoff) {
			kept = append(kept, e)
		}
	}
	return kept
}

func sum(events []event, cutoff time.Time) (n int64) {
	for _, e := range events {
		if e.at.After(cutoff) {
			n += e.replicas
		}
	}
	return n
}

// rules holds spec.behavior.scaleUp or scaleDown after defaulting.
type rules struct {
	policy   string // Max, Min or Disabled
	window   time.Duration
	policies []tree.Tree
}

func readRules(t tree.Tree, window time.Duration) rules {
	r := rules{policy: t.String("selectPolicy"), window: window, policies: t.Objects("policies")}
	if n, ok := t.Int("stabilizationWindowSeconds"); ok {
		r.window = seconds(n)
	}
	return r
}

func seconds(n int64) time.Duration { return time.Duration(n) * time.Second }

func (r rules) longest() (longest time.Duration) {
	for _, p := range r.policies {
		n, _ := p.Int("periodSeconds")
		longest = max(longest, seconds(n))
	}
	return longest
}

type sizing struct {
	history               *history
	current, minimum, max int64
	up, down              rules
	hasBehavior           bool
	now                   time.Time
}

// verdict holds the desired replicas and the content of the conditions AbleToScale and
// ScalingLimited.
type verdict struct {
	replicas                  int64
	stableReason, stableText  string
	limited                   bool
	limitReason, limitMessage string
}

func (s *sizing) decide(proposed int64) verdict {
	steady := s.steady(proposed)
	v := verdict{stableReason: "ReadyForNewScale", stableText: "recommended size matches current size"}
	if steady != proposed {
		v.stableReason, v.stableText = "ScaleDownStabilized", "recent recommendations were higher than current one, applying the highest recent recommendation"
		if s.hasBehavior && proposed >= s.current {
			v.stableReason, v.stableText = "ScaleUpStabilized", "recent recommendations were lower than current one, applying the lowest recent recommendation"
		}
	}
	v.replicas, v.limitReason, v.limitMessage = s.limit(steady)
	v.limited = v.replicas != steady
	return v
}

// steady records the proposed number of replicas and returns the stabilized number. Without
// spec.behavior, scaling up has no stabilization window.
func (s *sizing) steady(proposed int64) int64 {
	h := s.history
	lowest, highest := proposed, proposed
	up, down := s.now.Add(-s.up.window), s.now.Add(-s.down.window)
	for _, r := range h.recommendations {
		if r.at.After(up) {
			lowest = min(lowest, r.replicas)
		}
		if r.at.After(down) {
			highest = max(highest, r.replicas)
		}
	}
	oldest := up
	if down.Before(up) {
		oldest = down
	}
	h.recommendations = append(dropBefore(h.recommendations, oldest), event{proposed, s.now})
	if !s.hasBehavior {
		return highest
	}
	return min(max(s.current, lowest), highest)
}

// Messages of the ScalingLimited condition.
const (
	withinRange = "the desired count is within the acceptable range"
	tooFast     = "the desired replica count is increasing faster than the maximum scale rate"
	tooFastDown = "the desired replica count is decreasing faster than the maximum scale rate"
	tooMany     = "the desired replica count is more than the maximum replica count"
	tooFew      = "the desired replica count is less than the minimum replica count"
)

// limit returns the replica count closest to wanted that minReplicas, maxReplicas and the scaling
// policies allow.
func (s *sizing) limit(wanted int64) (replicas int64, reason, message string) {
	growth, shrinkage := s.rates()
	if wanted > s.current || !s.hasBehavior {
		most, reason, message := s.max, "TooManyReplicas", tooMany
		if growth < most {
			most, reason, message = growth, "ScaleUpLimit", tooFast
		}
		if wanted > most {
			return most, reason, message
		}
	}
	if wanted < s.current || !s.hasBehavior {
		least, reason, message := s.minimum, "TooFewReplicas", tooFew
		if shrinkage > least {
			least, reason, message = shrinkage, "ScaleDownLimit", tooFastDown
		}
		if wanted < least {
			return least, reason, message
		}
	}
	return wanted, "DesiredWithinRange", withinRange
}

func (s *sizing) rates() (most, fewest int64) {
	if !s.hasBehavior {
		return max(2*s.current, 4), 0
	}
	return max(s.reach(s.up, growing), s.current), min(s.reach(s.down, shrinking), s.current)
}

const (
	growing   = 1
	shrinking = -1
)

// reach returns the highest or lowest replica count, depending on direction, that the scaling
// policies of r allow. The policy with the largest change applies, unless selectPolicy is Min.
func (s *sizing) reach(r rules, direction int64) int64 {
	if r.policy == "Disabled" {
		return s.current
	}
	farthest := r.policy != "Min"
	result := int64(math.MaxInt32)
	if farthest == (direction == growing) {
		result = math.MinInt32
	}
	for _, p := range r.policies {
		period, _ := p.Int("periodSeconds")
		value, _ := p.Int("value")
		cutoff := s.now.Add(-seconds(period))
		start := s.current - sum(s.history.ups, cutoff) + sum(s.history.downs, cutoff)
		proposed := start + direction*value
		if p.String("type") == "Percent" {
			exact := float64(start) * (1 + float64(direction*value)/100)
			if proposed = int64(exact); direction == growing {
				proposed = ceil(exact) // so that a small number of replicas can grow
			}
		}
		if farthest == (direction == growing) {
			result = max(result, proposed)
		} else {
			result = min(result, proposed)
		}
	}
	return result
}

func (s *sizing) note(replicas int64) {
	if !s.hasBehavior {
		return
	}
	h := s.history
	if change := replicas - s.current; change > 0 {
		h.ups = append(dropBefore(h.ups, s.now.Add(-s.longest())), event{change, s.now})
	} else {
		h.downs = append(dropBefore(h.downs, s.now.Add(-s.longest())), event{-change, s.now})
	}
}

// longest returns the longest period of all policies. It includes both directions, because scale-up
// policies also count downscales, and vice versa.
func (s *sizing) longest() time.Duration { return max(s.up.longest(), s.down.longest()) }
