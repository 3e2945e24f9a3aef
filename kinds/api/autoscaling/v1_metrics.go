package autoscaling

import (
	"reflect"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

var metricSources = []string{"object", "external", "pods", "resource", "containerResource"}

// A metricFieldMap maps flat v1 metrics to nested v2 metrics and back. For each metric source, it
// contains the v1 field names and the v2 paths.
type metricFieldMap map[string][]metricField

type metricField struct {
	name string
	path []string
}

// metricFields lists the fields of spec metrics, each as v1Name=v2.path.
var metricFields = map[string]string{
	"object":            "target=describedObject metricName=metric.name selector=metric.selector targetValue=target.value averageValue=target.averageValue",
	"pods":              "metricName=metric.name selector=metric.selector targetAverageValue=target.averageValue",
	"resource":          "name=name targetAverageUtilization=target.averageUtilization targetAverageValue=target.averageValue",
	"containerResource": "name=name container=container targetAverageUtilization=target.averageUtilization targetAverageValue=target.averageValue",
	"external":          "metricName=metric.name metricSelector=metric.selector targetValue=target.value targetAverageValue=target.averageValue",
}

var (
	specMetricFields   = newMetricFieldMap(strings.NewReplacer())
	statusMetricFields = newMetricFieldMap(strings.NewReplacer("targetA", "currentA", "targetV", "currentV", "target.", "current."))
)

func newMetricFieldMap(rename *strings.Replacer) metricFieldMap {
	all := metricFieldMap{}
	for source, fields := range metricFields {
		for _, field := range strings.Fields(rename.Replace(fields)) {
			name, path, _ := strings.Cut(field, "=")
			all[source] = append(all[source], metricField{name, strings.Split(path, ".")})
		}
	}
	return all
}

// metricToV1 converts a metric to v1. It leaves the metric in v2 form if v1 lacks any of its
// fields.
func metricToV1(m tree.Tree, fieldMap metricFieldMap) tree.Tree {
	old := tree.Tree{}
	old.CopyField(m, "type")
	for source, parts := range fieldMap {
		from := m.Object(source)
		if from == nil {
			continue
		}
		to := old.EnsureObject(source)
		for _, p := range parts {
			last := len(p.path) - 1
			if v := from.Object(p.path[:last]...)[p.path[last]]; v != nil {
				to[p.name] = v
			}
		}
	}
	if !reflect.DeepEqual(metricFromV1(old, fieldMap), m) {
		return m
	}
	return old
}

func metricsFromV1(annotations tree.Tree, name string, fieldMap metricFieldMap) []any {
	list, _ := jsonAnnotation(annotations, name).([]any)
	metrics := make([]any, 0, len(list))
	for _, v := range list {
		if m, ok := v.(tree.Tree); ok && !isStoredMetric(m) {
			v = metricFromV1(m, fieldMap)
		}
		metrics = append(metrics, v)
	}
	return metrics
}

// isStoredMetric reports whether a metric is in v2 form, which has fields that v1 lacks. An object
// metric has a target in both forms, so that field does not count.
func isStoredMetric(m tree.Tree) bool {
	if reflect.DeepEqual(m, cpuMetricPlaceholder()) {
		return true
	}
	return slices.ContainsFunc(metricSources, func(source string) bool {
		s := m.Object(source)
		return s.Has("metric") || s.Has("describedObject") || s.Has("current") ||
			source != "object" && s.Has("target")
	})
}

func metricFromV1(old tree.Tree, fieldMap metricFieldMap) tree.Tree {
	m := tree.Tree{}
	m.CopyField(old, "type")
	for source, parts := range fieldMap {
		from := old.Object(source)
		if from == nil {
			continue
		}
		to := m.EnsureObject(source)
		for _, p := range parts {
			if v := from[p.name]; v != nil {
				last := len(p.path) - 1
				to.EnsureObject(p.path[:last]...)[p.path[last]] = v
			}
		}
		inferTargetType(to.Object("target"))
	}
	return m
}

// inferTargetType derives the type of a target from its fields. It removes a zero value from an
// average target, because v1 requires a value there.
func inferTargetType(target tree.Tree) {
	switch {
	case target == nil:
	case target.Has("averageUtilization"):
		target["type"] = "Utilization"
	case target.Has("averageValue"):
		target["type"] = "AverageValue"
		if target["value"] == "0" {
			delete(target, "value")
		}
	default:
		target["type"] = "Value"
	}
}
