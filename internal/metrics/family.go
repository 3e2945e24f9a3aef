package metrics

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// A Family is a metric family whose values are computed when it is written.
type Family struct {
	name, kind, help string
	value            any
}

// Samples maps the labels of series, such as `a="x",b="y"`, to values.
type Samples map[string]any

// CounterValue declares a counter. value is a number, a bool (1 or 0), a *Counter, a *Gauge or a
// *Histogram. If the counter has labels, value is a Samples that maps labels to such values.
func CounterValue(name, help string, value any) Family { return Family{name, "counter", help, value} }

// GaugeValue declares a gauge. For value, see CounterValue.
func GaugeValue(name, help string, value any) Family { return Family{name, "gauge", help, value} }

// HistogramValue declares a histogram. For value, see CounterValue.
func HistogramValue(name, help string, value any) Family {
	return Family{name, "histogram", help, value}
}

// Each returns Samples with one sample per item. labels and value compute the labels and value of
// an item.
func Each[T any](items []T, labels func(T) string, value func(T) any) Samples {
	all := Samples{}
	for _, item := range items {
		all[labels(item)] = value(item)
	}
	return all
}

// A Writer writes a family in the text exposition format.
type Writer interface{ Write(w io.Writer) }

// Write writes families in the text exposition format.
func Write(w io.Writer, all ...Writer) {
	for _, f := range all {
		f.Write(w)
	}
}

// Write writes the series sorted by labels, so that scrapes can be compared line by line.
func (f Family) Write(w io.Writer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", f.name, f.help, f.kind)
	write(w, f.name, "", f.value)
}

func write(w io.Writer, name, labels string, value any) {
	switch v := value.(type) {
	case Samples:
		for _, labels := range slices.Sorted(maps.Keys(v)) {
			write(w, name, labels, v[labels])
		}
	case *Histogram:
		v.write(w, name, labels)
	case *Counter:
		write(w, name, labels, v.Get())
	case *Gauge:
		write(w, name, labels, v.Get())
	case bool:
		n := 0
		if v {
			n = 1
		}
		write(w, name, labels, n)
	default:
		if labels != "" {
			name += "{" + labels + "}"
		}
		fmt.Fprintf(w, "%s %v\n", name, v)
	}
}
