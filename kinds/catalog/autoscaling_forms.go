package catalog

import (
	"reflect"
	"slices"

	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A metricForm tells where version v1, whose metrics are flat, keeps the parts of a metric:
// for each source a list of its name and the path in the stored form.
type metricForm map[string][]metricPart

type metricPart struct {
	name string
	path []string
}

func part(name string, path ...string) metricPart { return metricPart{name, path} }

// specForms are the forms of metrics that are wanted, statusForms of those observed.
var (
	specForms = metricForm{
		"object": {part("target", "describedObject"), part("metricName", "metric", "name"), part("selector", "metric", "selector"),
			part("targetValue", "target", "value"), part("averageValue", "target", "averageValue")},
		"pods": {part("metricName", "metric", "name"), part("selector", "metric", "selector"), part("targetAverageValue", "target", "averageValue")},
		"resource": {part("name", "name"), part("targetAverageUtilization", "target", "averageUtilization"),
			part("targetAverageValue", "target", "averageValue")},
		"containerResource": {part("name", "name"), part("container", "container"),
			part("targetAverageUtilization", "target", "averageUtilization"), part("targetAverageValue", "target", "averageValue")},
		"external": {part("metricName", "metric", "name"), part("metricSelector", "metric", "selector"),
			part("targetValue", "target", "value"), part("targetAverageValue", "target", "averageValue")},
	}
	statusForms = metricForm{
		"object": {part("target", "describedObject"), part("metricName", "metric", "name"), part("selector", "metric", "selector"),
			part("currentValue", "current", "value"), part("averageValue", "current", "averageValue")},
		"pods": {part("metricName", "metric", "name"), part("selector", "metric", "selector"), part("currentAverageValue", "current", "averageValue")},
		"resource": {part("name", "name"), part("currentAverageUtilization", "current", "averageUtilization"),
			part("currentAverageValue", "current", "averageValue")},
		"containerResource": {part("name", "name"), part("container", "container"),
			part("currentAverageUtilization", "current", "averageUtilization"), part("currentAverageValue", "current", "averageValue")},
		"external": {part("metricName", "metric", "name"), part("metricSelector", "metric", "selector"),
			part("currentValue", "current", "value"), part("currentAverageValue", "current", "averageValue")},
	}
)

// olderMetric is a metric in the form of version v1; one that would lose something there
// stays as it is.
func olderMetric(m schema.Tree, forms metricForm) schema.Tree {
	old := schema.Tree{}
	rules.Carry(old, m, "type")
	for source, parts := range forms {
		from := rules.Sub(m, source)
		if from == nil {
			continue
		}
		to := rules.Grow(old, source)
		for _, p := range parts {
			last := len(p.path) - 1
			if v := rules.Sub(from, p.path[:last]...)[p.path[last]]; v != nil {
				to[p.name] = v
			}
		}
	}
	if !reflect.DeepEqual(newerMetric(old, forms), m) {
		return m
	}
	return old
}

// newerMetrics are the metrics that an annotation lists, in the stored form.
func newerMetrics(annotations schema.Tree, name string, forms metricForm) []any {
	list, _ := fromJSON(annotations, name).([]any)
	metrics := make([]any, 0, len(list))
	for _, v := range list {
		if m, ok := v.(schema.Tree); ok && !stays(m) {
			v = newerMetric(m, forms)
		}
		metrics = append(metrics, v)
	}
	return metrics
}

// stays tells a metric that is in the stored form.
func stays(m schema.Tree) bool {
	if reflect.DeepEqual(m, cpuPlace()) {
		return true
	}
	return slices.ContainsFunc(metricSources, func(source string) bool {
		s := rules.Sub(m, source)
		return rules.Has(s, "metric") || rules.Has(s, "describedObject") || rules.Has(s, "current") ||
			source != "object" && rules.Has(s, "target")
	})
}

// newerMetric is a metric of version v1 in the stored form.
func newerMetric(old schema.Tree, forms metricForm) schema.Tree {
	m := schema.Tree{}
	rules.Carry(m, old, "type")
	for source, parts := range forms {
		from := rules.Sub(old, source)
		if from == nil {
			continue
		}
		to := rules.Grow(m, source)
		for _, p := range parts {
			if v := from[p.name]; v != nil {
				last := len(p.path) - 1
				rules.Grow(to, p.path[:last]...)[p.path[last]] = v
			}
		}
		typeTarget(rules.Sub(to, "target"))
	}
	return m
}

// typeTarget tells the type of a target from what it holds. A value beside an average is one
// that could not be left out.
func typeTarget(target schema.Tree) {
	switch {
	case target == nil:
	case rules.Has(target, "averageUtilization"):
		target["type"] = "Utilization"
	case rules.Has(target, "averageValue"):
		target["type"] = "AverageValue"
		if target["value"] == "0" {
			delete(target, "value")
		}
	default:
		target["type"] = "Value"
	}
}
