// Package metrics declares metric families, counts in their series, and writes them in the text
// exposition format of Prometheus.
//
// Its nouns:
//
//	Vec        a family declared with its labels; its series are counted as events happen
//	Families   declarations with values that are computed when they are written
//	Histogram  counts values in buckets with the label le
//
// Counters and gauges are those of github.com/VictoriaMetrics/metrics. Two things are not:
//
//   - Histograms. The library's have buckets of their own (vmrange), which only its own database
//     reads; dashboards expect the label le and certain bounds.
//   - HELP and TYPE. The library writes them for all sets of a process or for none, without help.
//
// A Vec finds a series by its label values, without making text. Where even that costs too much,
// callers keep the series that With returns.
package metrics
