package match

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// A Conditioned is what has matchConditions, for one operation, as metrics tell it.
type Conditioned struct {
	Name      string // of the webhook or the policy
	Kind      string // "webhook" or "policy"
	Type      string // "admit", "validating" or "validate"
	Operation string
}

// labels are in the text exposition format.
func (c Conditioned) labels() string {
	return fmt.Sprintf("kind=%q,name=%q,operation=%q,type=%q", c.Kind, c.Name, c.Operation, c.Type)
}

// maxConditioned bounds the series of each metric. What is observed beyond is counted under an empty name.
const maxConditioned = 1000

// conditionBounds are the upper bounds of the buckets, in seconds.
var conditionBounds = [...]float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}

// ConditionMetrics count what matchConditions come to. The zero value has counted nothing; many goroutines may use it.
type ConditionMetrics struct {
	mu   sync.Mutex // guards what follows
	seen map[Conditioned]*conditionCounts
}

type conditionCounts struct {
	errors, exclusions, evaluations uint64
	buckets                         [len(conditionBounds)]uint64
	seconds                         float64
}

// Observe counts one evaluation: the conditions that could not be evaluated, and whether the outcome was anything but that
// all are true, which alone is timed. excludes says that a webhook is not asked because of it.
func (m *ConditionMetrics) Observe(c Conditioned, errors int, holds, excludes bool, took time.Duration) {
	if holds && errors == 0 {
		return // the usual outcome costs nothing
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := m.counts(c)
	counts.errors += uint64(errors)
	counts.evaluations++
	counts.seconds += took.Seconds()
	for i, bound := range conditionBounds {
		if took.Seconds() <= bound {
			counts.buckets[i]++
		}
	}
	if excludes {
		counts.exclusions++
	}
}

// counts are those of a series. The caller holds the mutex.
func (m *ConditionMetrics) counts(c Conditioned) *conditionCounts {
	if m.seen == nil {
		m.seen = map[Conditioned]*conditionCounts{}
	}
	if m.seen[c] == nil && len(m.seen) >= maxConditioned {
		c.Name = ""
	}
	if m.seen[c] == nil {
		m.seen[c] = &conditionCounts{}
	}
	return m.seen[c]
}

// WriteMetrics writes the series in the text exposition format.
func (m *ConditionMetrics) WriteMetrics(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := slices.SortedFunc(maps.Keys(m.seen), func(a, b Conditioned) int { return cmp.Compare(a.labels(), b.labels()) })
	const prefix = "apiserver_admission_match_condition_"
	counter := func(name, help string, value func(*conditionCounts) uint64) {
		headed := false
		for _, c := range all {
			n := value(m.seen[c])
			if n == 0 {
				continue
			}
			if !headed {
				fmt.Fprintf(w, "# HELP %s%s %s\n# TYPE %[1]s%[2]s counter\n", prefix, name, help)
				headed = true
			}
			fmt.Fprintf(w, "%s%s{%s} %d\n", prefix, name, c.labels(), n)
		}
	}
	counter("evaluation_errors_total", "matchConditions that could not be evaluated, by name and kind (webhook or policy), type and operation.",
		func(c *conditionCounts) uint64 { return c.errors })
	counter("exclusions_total", "Webhooks that were not asked because of their matchConditions, by name and kind, type and operation.",
		func(c *conditionCounts) uint64 { return c.exclusions })
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(w, "# HELP %sevaluation_seconds How long matchConditions took that did not all hold, by name and kind, type and operation.\n# TYPE %[1]sevaluation_seconds histogram\n", prefix)
	for _, c := range all {
		m.seen[c].write(w, prefix+"evaluation_seconds", c.labels())
	}
}

// write writes the histogram.
func (c *conditionCounts) write(w io.Writer, name, labels string) {
	for i, bound := range conditionBounds {
		fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %d\n", name, labels, bound, c.buckets[i])
	}
	fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%[1]s_sum{%[2]s} %[4]v\n%[1]s_count{%[2]s} %[3]d\n", name, labels, c.evaluations, c.seconds)
}
