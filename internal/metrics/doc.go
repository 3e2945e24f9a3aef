// Package metrics declares metric families, counts in their series, and writes them in the text
// exposition format of Prometheus.
//
//	Vec        a family declared with its labels, whose series are updated by events
//	Family     a declaration with values computed when it is written
//	Histogram  counts values in buckets with the label le
//
// Counters and gauges are those of github.com/VictoriaMetrics/metrics. Two parts are not:
//
//   - Histograms: only VictoriaMetrics can read the library's buckets (vmrange). Dashboards expect
//     the label le and certain bounds.
//   - HELP and TYPE: the library writes them for all sets of a process or for none, without help
//     texts.
//
// A Vec finds a series by its label values without building a string. Hot paths keep the series
// that With returns.
package metrics
