package table

import (
	"cmp"

	"github.com/troupe-api/troupe/kinds/jsonpath"
	"github.com/troupe-api/troupe/kinds/jsontext"
)

const maxMetrics = 2

var metricSources = map[string]string{
	"External": "external", "Object": "object", "Pods": "pods",
	"Resource": "resource", "ContainerResource": "containerResource",
}

// showMetricTargets shows current/target values, such as "cpu: <unknown>/80%", "100m/500m (avg)" or
// "cpu: 40%/80%, 3/10 + 1 more...". It pairs current and target metrics by position.
func showMetricTargets(r *row, _ string) string {
	var shown []string
	var statuses []jsontext.Value
	for m := range r.json.At("status.currentMetrics").Items {
		statuses = append(statuses, m)
	}
	for m := range r.json.At("spec.metrics").Items {
		var status jsontext.Value
		if i := len(shown); i < len(statuses) {
			status = statuses[i]
		}
		shown = append(shown, metric(m, status))
	}
	return cmp.Or(joinAtMost(shown, maxMetrics, len(shown), ", "), none)
}

func metric(spec, status jsontext.Value) string {
	kind := spec.Field("type").Text()
	source := spec.Field(metricSources[kind])
	target, current := source.Field("target"), status.Field(metricSources[kind]).Field("current")
	average := target.Field("averageValue")
	switch kind {
	case "Pods":
		return amount(current.Field("averageValue")) + "/" + jsonpath.Text(average)
	case "External", "Object":
		if average.Exists() {
			return amount(current.Field("averageValue")) + "/" + jsonpath.Text(average) + " (avg)"
		}
		return amount(current.Field("value")) + "/" + jsonpath.Text(target.Field("value"))
	case "Resource", "ContainerResource":
		name := source.Field("name").Text() + ": "
		if average.Exists() {
			return name + amount(current.Field("averageValue")) + "/" + jsonpath.Text(average)
		}
		return name + percent(current.Field("averageUtilization"), unknown) + "/" + percent(target.Field("averageUtilization"), "<auto>")
	}
	return "<unknown type>"
}

func amount(v jsontext.Value) string {
	if !v.Exists() {
		return unknown
	}
	return jsonpath.Text(v)
}

func percent(v jsontext.Value, absent string) string {
	if !v.Exists() {
		return absent
	}
	return jsonpath.Text(v) + "%"
}
