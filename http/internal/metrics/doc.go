// Package metrics counts requests, and writes what the front knows about itself for Prometheus.
//
// Its nouns:
//
//	Requests  the series about requests, by verb, resource and code
//	Family    one metric, with its help and type, and its series
//
// Counters and gauges are those of github.com/VictoriaMetrics/metrics. Two things are not:
//
//   - Durations. The library's histograms have buckets of their own (vmrange), which only its own database
//     reads; dashboards for these conventions read buckets with the label le, at bounds that they know.
//   - HELP and TYPE. The library writes them for all sets of a process or for none, and the help is empty.
//
// A request finds its series by a small key, without making text: the library's own way, to look the series up
// by its name and labels, would cost more than the rest of the count.
package metrics
