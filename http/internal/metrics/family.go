package metrics

import (
	"fmt"
	"io"

	"github.com/VictoriaMetrics/metrics"
)

// Families are metrics in the order in which they are written.
type Families struct{ list []*Family }

// A Family is one metric with its help and type, and its series.
type Family struct {
	name, kind, help string
	set              *metrics.Set
}

// Add adds a metric; kind is as in "gauge".
func (f *Families) Add(name, kind, help string) *Family {
	family := newFamily(name, kind, help)
	f.list = append(f.list, family)
	return family
}

func newFamily(name, kind, help string) *Family {
	return &Family{name: name, kind: kind, help: help, set: metrics.NewSet()}
}

// Func adds a series that is asked for its value when it is written; labels are as in `a="x",b="y"`.
func (f *Family) Func(labels string, value func() float64) {
	f.set.NewGauge(f.series(labels), value)
}

// Counter is a series that counts; it is added if there is none.
func (f *Family) Counter(labels string) *metrics.Counter {
	return f.set.GetOrCreateCounter(f.series(labels))
}

// remove removes a series.
func (f *Family) remove(labels string) { f.set.UnregisterMetric(f.series(labels)) }

func (f *Family) series(labels string) string {
	if labels == "" {
		return f.name
	}
	return f.name + "{" + labels + "}"
}

// WritePrometheus writes all in the text exposition format.
func (f *Families) WritePrometheus(w io.Writer) {
	for _, family := range f.list {
		family.write(w)
	}
}

func (f *Family) write(w io.Writer) {
	writeHelp(w, f.name, f.kind, f.help)
	f.set.WritePrometheus(w)
}

func writeHelp(w io.Writer, name, kind, help string) {
	// The writer is a buffer: it does not fail.
	_, _ = fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}
