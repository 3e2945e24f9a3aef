package match

import (
	"io"
	"time"

	"github.com/troupe-api/troupe/internal/metrics"
)

// Conditioned holds the metric labels of a webhook or policy with matchConditions.
type Conditioned struct {
	Name      string // of the webhook or policy
	Kind      string // "webhook" or "policy"
	Type      string // "admit", "validating" or "validate"
	Operation string
}

// maxConditioned limits the series of each metric. Beyond the limit, new series get an empty name
// label.
const maxConditioned = 1000

// conditionBuckets holds the histogram buckets in seconds.
var conditionBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}

// ConditionMetrics counts the results of matchConditions. It is safe for concurrent use.
type ConditionMetrics struct {
	errors, exclusions *metrics.Counters
	took               *metrics.Histograms
}

// NewConditionMetrics returns empty ConditionMetrics.
func NewConditionMetrics() *ConditionMetrics {
	const prefix = "apiserver_admission_match_condition_"
	labels := []string{"kind", "name", "operation", "type"}
	return &ConditionMetrics{
		metrics.NewCounters(prefix+"evaluation_errors_total",
			"Evaluation errors of matchConditions, by name and kind (webhook or policy), type and operation.", labels...).Bound(maxConditioned, "name"),
		metrics.NewCounters(prefix+"exclusions_total",
			"Webhooks and policies skipped because of their matchConditions, by name and kind, type and operation.", labels...).Bound(maxConditioned, "name"),
		metrics.NewHistograms(prefix+"evaluation_seconds",
			"Evaluation time of matchConditions of which at least one was false, by name and kind, type and operation.", conditionBuckets, labels...).Bound(maxConditioned, "name"),
	}
}

// Observe records one evaluation of matchConditions, unless all conditions hold without errors.
// errors is the number of failed conditions. excludes reports whether the webhook or policy is
// skipped.
func (m *ConditionMetrics) Observe(c Conditioned, errors int, holds, excludes bool, took time.Duration) {
	if holds && errors == 0 {
		return // the common case costs nothing
	}
	m.took.With(c.Kind, c.Name, c.Operation, c.Type).ObserveDuration(took)
	if errors > 0 {
		m.errors.With(c.Kind, c.Name, c.Operation, c.Type).Add(errors)
	}
	if excludes {
		m.exclusions.With(c.Kind, c.Name, c.Operation, c.Type).Inc()
	}
}

// WriteMetrics writes the metrics in the Prometheus text format.
func (m *ConditionMetrics) WriteMetrics(w io.Writer) {
	for _, f := range []interface {
		metrics.Writer
		Len() int
	}{m.errors, m.exclusions, m.took} {
		if f.Len() > 0 {
			f.Write(w)
		}
	}
}
