package present

// maxMetrics is how many metrics of an autoscaler a table shows.
const maxMetrics = 2

// metricSources are the fields that hold what a metric of a type is about.
var metricSources = map[string]string{
	"External": "external", "Object": "object", "Pods": "pods",
	"Resource": "resource", "ContainerResource": "containerResource",
}

func showMetricTargets(b []byte, r *row, _ string) []byte {
	var shown []string
	var statuses []value
	r.json.at("status.currentMetrics").items(func(m value) bool {
		statuses = append(statuses, m)
		return true
	})
	r.json.at("spec.metrics").items(func(m value) bool {
		var status value
		if i := len(shown); i < len(statuses) {
			status = statuses[i]
		}
		shown = append(shown, metric(m, status))
		return true
	})
	return appendOr(b, joinAtMost(shown, maxMetrics, len(shown), ", "), none)
}

// metric is one metric as current/wanted.
func metric(spec, status value) string {
	kind := spec.field("type").text()
	source := spec.field(metricSources[kind])
	target, current := source.field("target"), status.field(metricSources[kind]).field("current")
	average := target.field("averageValue")
	switch kind {
	case "Pods":
		return amount(current.field("averageValue")) + "/" + average.plain()
	case "External", "Object":
		if average.exists() {
			return amount(current.field("averageValue")) + "/" + average.plain() + " (avg)"
		}
		return amount(current.field("value")) + "/" + target.field("value").plain()
	case "Resource", "ContainerResource":
		name := source.field("name").text() + ": "
		if average.exists() {
			return name + amount(current.field("averageValue")) + "/" + average.plain()
		}
		return name + percent(current.field("averageUtilization"), unknown) + "/" + percent(target.field("averageUtilization"), "<auto>")
	}
	return "<unknown type>"
}

func amount(v value) string {
	if !v.exists() {
		return unknown
	}
	return v.plain()
}

func percent(v value, absent string) string {
	if !v.exists() {
		return absent
	}
	return v.plain() + "%"
}
