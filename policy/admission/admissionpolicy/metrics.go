package admissionpolicy

import (
	"io"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/internal/metrics"
	"github.com/troupe-api/troupe/kinds/cel"
)

// maxSeries limits the series per policy type, because the series of deleted policies remain.
// Beyond the limit, policy and binding names are empty.
const maxSeries = 1000

// durations holds the histogram buckets in seconds, as in Kubernetes.
var durations = []float64{0.0000005, 0.001, 0.01, 0.1, 1}

// Metrics counts policy results.
type Metrics struct{ validating, mutating checks }

type checks struct {
	total *metrics.Counters
	took  *metrics.Histograms
}

// NewMetrics returns empty Metrics.
func NewMetrics() *Metrics {
	return &Metrics{
		validating: newChecks("apiserver_validating_admission_policy",
			"Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
			"Validation admission latency for individual validation expressions in seconds, labeled by policy and further including binding and enforcement action taken.",
			"enforcement_action", "error_type", "policy", "policy_binding"),
		mutating: newChecks("apiserver_mutating_admission_policy",
			"Mutation admission policy check total, labeled by policy and further identified by binding.",
			"Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.",
			"error_type", "policy", "policy_binding"),
	}
}

func newChecks(prefix, total, latency string, labels ...string) checks {
	return checks{
		metrics.NewCounters(prefix+"_check_total", total, labels...).Bound(maxSeries, "policy", "policy_binding"),
		metrics.NewHistograms(prefix+"_check_duration_seconds", latency, durations, labels...).Bound(maxSeries, "policy", "policy_binding"),
	}
}

func (c *checks) observe(policy, binding string, d decision, action string) {
	labels := []string{faultOf(d), policy, binding}
	if action != "" {
		labels = slices.Insert(labels, 0, action)
	}
	c.total.With(labels...).Inc()
	c.took.With(labels...).ObserveDuration(d.elapsed)
}

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

// WriteMetrics writes the metrics in the Prometheus text format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	for _, c := range []checks{m.validating, m.mutating} {
		if c.total.Len() > 0 {
			metrics.Write(w, c.total, c.took)
		}
	}
}
