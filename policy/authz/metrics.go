package authz

import (
	"io"

	"github.com/troupe-api/troupe/internal/metrics"
)

// Metrics holds the metrics of authorizers, with kube-apiserver's names. Decisions cached by
// connections are not counted again.
type Metrics struct {
	decisions, evaluations, failOpen *metrics.Counters
	duration                         *metrics.Histograms
}

// NewMetrics returns empty Metrics.
func NewMetrics() *Metrics {
	const prefix = "apiserver_authorization_"
	return &Metrics{
		metrics.NewCounters(prefix+"decisions_total", "Final decisions of authorizers.", "type", "name", "decision"),
		metrics.NewCounters(prefix+"webhook_evaluations_total", "Calls of authorization webhooks, including retries.", "name", "result"),
		metrics.NewCounters(prefix+"webhook_evaluations_fail_open_total", "Failed calls that left the decision to the next authorizer.", "name", "result"),
		metrics.NewHistograms(prefix+"webhook_duration_seconds", "Duration of calls of authorization webhooks.",
			[]float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, "name", "result"),
	}
}

// WriteMetrics writes the metrics in the Prometheus text format.
func (m *Metrics) WriteMetrics(w io.Writer) {
	metrics.Write(w, m.decisions, m.evaluations, m.failOpen, m.duration)
}

// Counted returns a RuleResolver that counts the decisions of a, labeled with its type and name.
func (m *Metrics) Counted(a RuleResolver, kind, name string) RuleResolver {
	return counted{a, m.decisions.With(kind, name, "allowed"), m.decisions.With(kind, name, "denied")}
}

type counted struct {
	RuleResolver
	allowed, denied *metrics.Counter
}

func (c counted) Authorize(a Attributes) (Decision, string) {
	d, reason := c.RuleResolver.Authorize(a)
	switch d {
	case Allow:
		c.allowed.Inc()
	case Deny:
		c.denied.Inc()
	}
	return d, reason
}
