package podsecurity

import (
	"io"
	"strconv"

	"github.com/troupe-api/troupe/internal/metrics"
)

// The modes of a policy, as metrics name them.
const (
	enforce = "enforce"
	audit   = "audit"
	warn    = "warn"
)

// A metricSet counts decisions. Its series are bounded: what requests choose freely is in no label. Their
// names are those that dashboards for other servers of this API read.
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

// metricLabels returns the labels that describe the request.
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

// evaluate counts an evaluation.
func (m *metricSet) evaluate(r Request, mode string, lv LevelVersion, allowed bool) {
	decision := "deny"
	if allowed {
		decision = "allow"
	}
	operation, resource, subresource := metricLabels(r)
	m.evaluations.With(decision, mode, lv.Level.String(), versionLabel(lv), operation, resource, subresource).Inc()
}

// versionLabel is the version that counts: all that this server does not know are one. A label of a
// namespace may name any version, and must not make a series each.
func versionLabel(lv LevelVersion) string {
	switch {
	case lv.Level == Privileged:
		return Version{}.String()
	case lv.Version.minor > newestMinor:
		return "future"
	}
	return lv.Version.String()
}

// exempt counts a request that is exempt.
func (m *metricSet) exempt(r Request) { m.exemptions.With(metricLabels(r)).Inc() }

// fail counts an error: a fatal one kept the request from being evaluated.
func (m *metricSet) fail(r Request, fatal bool) {
	operation, resource, subresource := metricLabels(r)
	m.errors.With(strconv.FormatBool(fatal), operation, resource, subresource).Inc()
}

// WriteMetrics writes the series in the text exposition format.
func (a *Admission) WriteMetrics(w io.Writer) {
	metrics.Write(w, a.metrics.evaluations, a.metrics.exemptions, a.metrics.errors)
}
