package podsecurity

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/VictoriaMetrics/metrics"
)

// The modes of a policy, as metrics name them.
const (
	enforce = "enforce"
	audit   = "audit"
	warn    = "warn"
)

// A metricSet counts decisions. Its series are bounded: what requests choose freely is in no label. Their
// names are those that dashboards for other servers of this API read.
type metricSet struct{ evaluations, exemptions, errors family }

// A family is the series of one name, each made when it first counts.
type family struct {
	name, help string

	mu     sync.RWMutex // guards series
	series map[labels]*metrics.Counter
}

// labels are those of all families; a family leaves those out that are "", except for subresource.
type labels struct {
	decision, level, version, mode, fatal, operation, resource, subresource string
}

func newMetricSet() *metricSet {
	m := &metricSet{}
	m.evaluations.name = "pod_security_evaluations_total"
	m.evaluations.help = "Number of policy evaluations that occurred, not counting ignored or exempt requests."
	m.exemptions.name = "pod_security_exemptions_total"
	m.exemptions.help = "Number of exempt requests, not counting ignored or out of scope requests."
	m.errors.name = "pod_security_errors_total"
	m.errors.help = "Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile being used for evaluation."
	for _, f := range m.families() {
		f.series = map[labels]*metrics.Counter{}
	}
	return m
}

func (m *metricSet) families() [3]*family {
	return [3]*family{&m.evaluations, &m.exemptions, &m.errors}
}

// labelsOfRequest are the labels that say what was asked.
func labelsOfRequest(r Request) labels {
	l := labels{operation: "update", resource: "controller", subresource: r.Subresource}
	if r.isCreate() {
		l.operation = "create"
	}
	if r.Resource == pods {
		l.resource = "pod"
	}
	return l
}

// evaluate counts an evaluation.
func (m *metricSet) evaluate(r Request, mode string, lv LevelVersion, allowed bool) {
	l := labelsOfRequest(r)
	l.decision, l.mode, l.level, l.version = "deny", mode, lv.Level.String(), versionLabel(lv)
	if allowed {
		l.decision = "allow"
	}
	m.evaluations.inc(l)
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
func (m *metricSet) exempt(r Request) { m.exemptions.inc(labelsOfRequest(r)) }

// fail counts an error: a fatal one kept the request from being evaluated.
func (m *metricSet) fail(r Request, fatal bool) {
	l := labelsOfRequest(r)
	l.fatal = fmt.Sprint(fatal)
	m.errors.inc(l)
}

// The read lock is enough for a series that exists.
func (f *family) inc(l labels) {
	f.mu.RLock()
	c := f.series[l]
	f.mu.RUnlock()
	if c == nil {
		c = f.add(l)
	}
	c.Inc()
}

// add makes a series, unless it is there by now.
func (f *family) add(l labels) *metrics.Counter {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.series[l]
	if c == nil {
		c = &metrics.Counter{}
		f.series[l] = c
	}
	return c
}

// WriteMetrics writes the series in the text exposition format.
func (a *Admission) WriteMetrics(w io.Writer) {
	for _, f := range a.metrics.families() {
		f.write(w)
	}
}

func (f *family) write(w io.Writer) {
	counts := map[string]uint64{}
	f.mu.RLock()
	for l, c := range f.series {
		counts[f.name+l.String()] = c.Get()
	}
	f.mu.RUnlock()
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s counter\n", f.name, f.help)
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		metrics.WriteCounterUint64(w, name, counts[name])
	}
}

// String is the labels in the text exposition format.
func (l labels) String() string {
	var texts []string
	add := func(name, value string) { texts = append(texts, fmt.Sprintf("%s=%q", name, value)) }
	if l.decision != "" {
		add("decision", l.decision)
	}
	if l.fatal != "" {
		add("fatal", l.fatal)
	}
	if l.mode != "" {
		add("mode", l.mode)
		add("policy_level", l.level)
		add("policy_version", l.version)
	}
	add("request_operation", l.operation)
	add("resource", l.resource)
	add("subresource", l.subresource)
	return "{" + strings.Join(texts, ",") + "}"
}
