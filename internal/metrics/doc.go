// Package metrics declares metric families, updates their series, and writes them in the Prometheus
// text exposition format.
//
//	Vec        a family declared with its labels, whose series are updated by events
//	Family     a family whose values are computed when it is written
//	Histogram  counts values in buckets with the label le
//
// Counters and gauges come from github.com/VictoriaMetrics/metrics. This package implements two
// parts itself:
//
//   - Histograms, because only VictoriaMetrics can read the library's vmrange buckets.
//     Dashboards expect fixed bounds in the label le.
//   - HELP and TYPE lines, because the library writes no help texts, and enables these lines only
//     for the entire process.
package metrics
