package admissionpolicy

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/kinds/cel"
)

// maxSeries bounds the series of each sort of policy. What is observed beyond is counted under empty names.
// Policies and bindings come and go, and a series is never forgotten.
const maxSeries = 1000

// durations are the upper bounds of the buckets, in seconds, as the public API has them.
var durations = [...]float64{0.0000005, 0.001, 0.01, 0.1, 1}

// Metrics count what policies have found. Its zero value has counted nothing.
type Metrics struct{ validating, mutating checks }

// checks are the checks of one sort of policy.
type checks struct {
	mu     sync.Mutex
	series map[labels]*histogram
}

type labels struct{ policy, binding, fault, action string }

type histogram struct {
	buckets [len(durations)]uint64
	count   uint64
	sum     float64
}

// observe counts a decision. action is "" for a mutating policy.
func (c *checks) observe(policy, binding string, d decision, action string) {
	at := labels{policy, binding, faultOf(d), action}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.series == nil {
		c.series = map[labels]*histogram{}
	}
	h := c.series[at]
	if h == nil && len(c.series) >= maxSeries {
		at.policy, at.binding = "", ""
		h = c.series[at]
	}
	if h == nil {
		h = &histogram{}
		c.series[at] = h
	}
	h.add(d.elapsed)
}

// Buckets are cumulative already when they are counted, so writing them is plain.
func (h *histogram) add(elapsed time.Duration) {
	seconds := elapsed.Seconds()
	for i, bound := range durations {
		if seconds <= bound {
			h.buckets[i]++
		}
	}
	h.count++
	h.sum += seconds
}

// faultOf is what was wrong with an evaluation, as the label error_type.
func faultOf(d decision) string {
	switch {
	case !d.denies && !d.failed:
		return "no_error"
	case strings.HasPrefix(d.message, "compilation"):
		return "compile_error"
	case strings.HasPrefix(d.message, cel.ErrOutOfBudget.Error()):
		return "out_of_budget"
	}
	return "invalid_error"
}

// WriteMetrics writes the series in the text exposition format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	m.validating.write(w, "apiserver_validating_admission_policy",
		"Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
		"Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.")
	m.mutating.write(w, "apiserver_mutating_admission_policy",
		"Mutation admission policy check total, labeled by policy and further identified by binding.",
		"Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.")
}

func (c *checks) write(w io.Writer, prefix, checks, latency string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.series) == 0 {
		return
	}
	var all []labels
	for at := range c.series {
		all = append(all, at)
	}
	slices.SortFunc(all, func(a, b labels) int { return cmp.Compare(a.String(), b.String()) })
	fmt.Fprintf(w, "# HELP %s_check_total %s\n# TYPE %s_check_total counter\n", prefix, checks, prefix)
	for _, at := range all {
		fmt.Fprintf(w, "%s_check_total{%s} %d\n", prefix, at, c.series[at].count)
	}
	name := prefix + "_check_duration_seconds"
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s histogram\n", name, latency, name)
	for _, at := range all {
		h := c.series[at]
		for i, bound := range durations {
			fmt.Fprintf(w, "%s_bucket{%s,le=\"%v\"} %d\n", name, at, bound, h.buckets[i])
		}
		fmt.Fprintf(w, "%s_bucket{%s,le=\"+Inf\"} %d\n%s_sum{%s} %v\n%s_count{%s} %d\n", name, at, h.count, name, at, h.sum, name, at, h.count)
	}
}

// String is the labels in the text exposition format.
func (l labels) String() string {
	text := fmt.Sprintf("error_type=%q,policy=%q,policy_binding=%q", l.fault, l.policy, l.binding)
	if l.action != "" {
		text = fmt.Sprintf("enforcement_action=%q,", l.action) + text
	}
	return text
}
