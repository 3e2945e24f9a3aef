package podsecurity

import (
	"io"
	"strconv"

	"github.com/troupe-api/troupe/internal/metrics"
)

// Policy modes, as named in metrics.
const (
	enforce = "enforce"
	audit   = "audit"
	warn    = "warn"
)

// A metricSet counts decisions. The number of series is bounded, because clients cannot choose
// label values.
type metricSet struct{ evaluations, exemptions, errors *metrics.Counters }

func newMetricSet() *metricSet {
	return &metricSet{
		metrics.NewCounters("pod_security_evaluations_total", "Number of policy evaluations that occurred, not counting ignored or exempt requests.",
			"decision", "mode", "policy_level", "policy_version", "request_operation", "resource", "subresource"),
		metrics.NewCounters("pod_security_exemptions_total", "Number of exempt requests, not counting ignored or out of scope requests.",
			"request_operation", "resource", "subresource"),
		metrics.NewCounters("pod_security_errors_total",
			"Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation.",
			"fatal", "request_operation", "resource", "subresource"),
	}
}

func metricLabels(r Request) (operation, resource, subresource string) {
	operation, resource = "update", "controller"
	if r.isCreate() {
		operation = "create"
	}
	if r.Resource == pods {
		resource = "pod"
	}
	return operation, resource, r.Subresource
}

func (m *metricSet) evaluate(r Request, mode string, lv LevelVersion, allowed bool) {
	decision := "deny"
	if allowed {
		decision = "allow"
	}
	operation, resource, subresource := metricLabels(r)
	m.evaluations.With(decision, mode, lv.Level.String(), versionLabel(lv), operation, resource, subresource).Inc()
}

// versionLabel returns the effective version. Unknown versions share one label value, because
// namespaces may specify any version.
func versionLabel(lv LevelVersion) string {
	switch {
	case lv.Level == Privileged:
		return Version{}.String()
	case lv.Version.minor > newestMinor:
		return "future"
	}
	return lv.Version.String()
}

func (m *metricSet) exempt(r Request) { m.exemptions.With(metricLabels(r)).Inc() }

func (m *metricSet) fail(r Request, fatal bool) {
	operation, resource, subresource := metricLabels(r)
	m.errors.With(strconv.FormatBool(fatal), operation, resource, subresource).Inc()
}

// WriteMetrics writes the metrics in the Prometheus text format.
func (a *Admission) WriteMetrics(w io.Writer) {
	metrics.Write(w, a.metrics.evaluations, a.metrics.exemptions, a.metrics.errors)
}
