package catalog

import (
	"reflect"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// autoscalerV1Converter is the way between version v1 of an autoscaler, which knows the CPUs only,
// and the stored form. Its annotations hold JSON:
//
//	metrics          a list of the metrics beside that of the CPUs, in the flat form of v1
//	                 (metricFieldMap), or in the stored form where the flat one would lose something
//	behavior         the behaviour, as it is stored; its tolerances have annotations of their own
//	conditions       the conditions of the status
//	current-metrics  a list of all observed metrics, that of the CPUs too
//
// The metric of the CPUs comes first, unless cpuMetricPlaceholder keeps a place for it in the list.
type autoscalerV1Converter struct {
	autoscalerAnnotations
	spec, status *schema.Message // of the stored form
}

func autoscalerV1(names autoscalerAnnotations, message func(string) *schema.Message) schema.Conversion {
	v1 := autoscalerV1Converter{
		autoscalerAnnotations: names,
		spec:                  message("autoscaling.v2.HorizontalPodAutoscalerSpec"),
		status:                message("autoscaling.v2.HorizontalPodAutoscalerStatus"),
	}
	return schema.Conversion{ToStored: v1.toStored, FromStored: v1.fromStored}
}

const (
	targetCPU  = "targetCPUUtilizationPercentage"
	currentCPU = "currentCPUUtilizationPercentage"
)

func (v1 autoscalerV1Converter) fromStored(obj schema.Tree) schema.Tree {
	v1.toleranceToAnnotations(obj)
	spec, status := rules.Nested(obj, "spec"), rules.Nested(obj, "status")
	var others []any
	for i, m := range rules.Trees(spec, "metrics") {
		percent, plain := cpuTarget(m)
		switch {
		case !plain || rules.Has(spec, targetCPU):
			others = append(others, metricToV1(m, specMetricFields))
		default:
			spec[targetCPU] = percent
			if i > 0 {
				others = append(others, cpuMetricPlaceholder())
			}
		}
	}
	setJSONAnnotation(obj, v1.metrics, others)
	setJSONAnnotation(obj, v1.behavior, spec["behavior"])
	delete(spec, "metrics")
	delete(spec, "behavior")
	var current []any
	for _, m := range rules.Trees(status, "currentMetrics") {
		if n, ok := rules.Int(rules.Nested(m, "resource", "current"), "averageUtilization"); ok && isCPU(m) && !rules.Has(status, currentCPU) {
			status[currentCPU] = n
		}
		current = append(current, metricToV1(m, statusMetricFields))
	}
	setJSONAnnotation(obj, v1.currentMetrics, current)
	setJSONAnnotation(obj, v1.conditions, status["conditions"])
	delete(status, "currentMetrics")
	delete(status, "conditions")
	return obj
}

func (v1 autoscalerV1Converter) toStored(obj schema.Tree) schema.Tree {
	spec := rules.EnsureNested(obj, "spec")
	annotations := rules.Nested(obj, "metadata", "annotations")
	metrics := insertCPUMetric(metricsFromV1(annotations, v1.metrics, specMetricFields), spec)
	v1.setIfDecodable(spec, "metrics", metrics, v1.spec)
	v1.setIfDecodable(spec, "behavior", jsonAnnotation(annotations, v1.behavior), v1.spec)
	status := rules.EnsureNested(obj, "status") // a status of zeros is left out of Protobuf
	current := metricsFromV1(annotations, v1.currentMetrics, statusMetricFields)
	v1.setIfDecodable(status, "currentMetrics", insertCurrentCPU(current, status), v1.status)
	v1.setIfDecodable(status, "conditions", jsonAnnotation(annotations, v1.conditions), v1.status)
	v1.toleranceFromAnnotations(obj)
	v1.drop(obj)
	return obj
}

// setIfDecodable sets a field to a value that an annotation held, if the message can hold that.
func (v1 autoscalerV1Converter) setIfDecodable(t schema.Tree, name string, v any, m *schema.Message) {
	if rules.Empty(v) {
		return
	}
	if fit, _, err := codec.Conform(m, schema.Tree{name: v}, nil); err == nil && !rules.Empty(fit[name]) {
		t[name] = fit[name]
	}
}

// jsonAnnotation is what an annotation holds as JSON; nil if there is none, or if it is none.
func jsonAnnotation(annotations schema.Tree, name string) any {
	text := rules.String(annotations, name)
	if text == "" {
		return nil
	}
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		return nil
	}
	return v
}

func isCPU(m schema.Tree) bool {
	return rules.String(m, "type") == "Resource" && rules.String(rules.Nested(m, "resource"), "name") == "cpu"
}

// cpuTarget is the percentage of a metric that version v1 has a field for, and whether m is
// such a metric, and nothing more.
func cpuTarget(m schema.Tree) (int64, bool) {
	n, _ := rules.Int(rules.Nested(m, "resource", "target"), "averageUtilization")
	return n, reflect.DeepEqual(m, cpuMetric(n))
}

// cpuMetricPlaceholder stands among other metrics where the one that has a field belongs. Without it
// that one is the first.
func cpuMetricPlaceholder() schema.Tree {
	return schema.Tree{"type": "Resource", "resource": schema.Tree{"name": "cpu"}}
}

// insertCPUMetric puts the metric that has a field to the others, in its place, and takes the field away.
func insertCPUMetric(others []any, spec schema.Tree) []any {
	percent, given := rules.Int(spec, targetCPU)
	delete(spec, targetCPU)
	var metrics []any
	for _, m := range others {
		switch {
		case !reflect.DeepEqual(m, cpuMetricPlaceholder()):
			metrics = append(metrics, m)
		case given:
			metrics = append(metrics, cpuMetric(percent))
			given = false
		}
	}
	if given {
		metrics = append([]any{cpuMetric(percent)}, metrics...)
	}
	return metrics
}

// insertCurrentCPU puts the observed percentage into the metric that it is of, and takes the field away.
func insertCurrentCPU(current []any, status schema.Tree) []any {
	percent, given := rules.Int(status, currentCPU)
	delete(status, currentCPU)
	if !given {
		return current
	}
	for _, v := range current {
		m, _ := v.(schema.Tree)
		if observed := rules.Nested(m, "resource", "current"); isCPU(m) && rules.Has(observed, "averageUtilization") {
			observed["averageUtilization"] = percent
			return current
		}
	}
	if len(current) > 0 {
		return current
	}
	resource := schema.Tree{"name": "cpu", "current": schema.Tree{"averageUtilization": percent}}
	return []any{schema.Tree{"type": "Resource", "resource": resource}}
}
