package autoscaling

import (
	"reflect"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// An autoscalerV1Strategy converts autoscalers between v1 and the stored version v2. v1 has a
// field only for the CPU metric. Annotations contain all other values as JSON:
//
//	metrics          other metrics, in the flat form of v1 (metricFieldMap), or in the form
//	                 of v2 if the flat form cannot represent them
//	behavior         the behavior as in v2; its tolerances have separate annotations
//	conditions       the conditions of the status
//	current-metrics  all observed metrics, including the CPU metric
//
// The CPU metric is the first metric in v2, unless cpuMetricPlaceholder marks another position
// in the annotation. Annotations that cannot be decoded are ignored, because a conversion cannot
// report errors.
type autoscalerV1Strategy struct {
	schema.DefaultStrategy
	schema.Lossless
	autoscalerAnnotations
	spec, status *schema.Declaration // v2 declarations
}

func newAutoscalerV1Strategy(names autoscalerAnnotations, message func(string) *schema.Declaration) autoscalerV1Strategy {
	return autoscalerV1Strategy{
		autoscalerAnnotations: names,
		spec:                  message("autoscaling.v2.HorizontalPodAutoscalerSpec"),
		status:                message("autoscaling.v2.HorizontalPodAutoscalerStatus"),
	}
}

const (
	targetCPU  = "targetCPUUtilizationPercentage"
	currentCPU = "currentCPUUtilizationPercentage"
)

// FromStored converts obj to v1. It first moves the tolerances to their own annotations, because
// older clients do not support them in the behavior annotation.
func (v1 autoscalerV1Strategy) FromStored(obj tree.Tree) tree.Tree {
	v1.toleranceToAnnotations(obj)
	spec, status := obj.Object("spec"), obj.Object("status")
	var others []any
	for i, m := range spec.Objects("metrics") {
		percent, plain := cpuTarget(m)
		switch {
		case !plain || spec.Has(targetCPU):
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
	for _, m := range status.Objects("currentMetrics") {
		if n, ok := m.Object("resource", "current").Int("averageUtilization"); ok && isCPU(m) && !status.Has(currentCPU) {
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

func (v1 autoscalerV1Strategy) ToStored(obj tree.Tree) tree.Tree {
	spec := obj.EnsureObject("spec")
	annotations := obj.Annotations()
	metrics := insertCPUMetric(metricsFromV1(annotations, v1.metrics, specMetricFields), spec)
	v1.setIfDecodable(spec, "metrics", metrics, v1.spec.Message())
	v1.setIfDecodable(spec, "behavior", jsonAnnotation(annotations, v1.behavior), v1.spec.Message())
	status := obj.EnsureObject("status") // because Protobuf omits an all-zero status
	current := metricsFromV1(annotations, v1.currentMetrics, statusMetricFields)
	v1.setIfDecodable(status, "currentMetrics", insertCurrentCPU(current, status), v1.status.Message())
	v1.setIfDecodable(status, "conditions", jsonAnnotation(annotations, v1.conditions), v1.status.Message())
	v1.toleranceFromAnnotations(obj)
	v1.drop(obj)
	return obj
}

func (v1 autoscalerV1Strategy) setIfDecodable(t tree.Tree, name string, v any, m *schema.Message) {
	if tree.IsEmpty(v) {
		return
	}
	if fit, _, err := codec.Conform(m, tree.Tree{name: v}, nil); err == nil && !tree.IsEmpty(fit[name]) {
		t[name] = fit[name]
	}
}

// jsonAnnotation returns an annotation's decoded JSON value. As in kube-apiserver, the result is
// nil if the annotation is absent or invalid.
func jsonAnnotation(annotations tree.Tree, name string) any {
	text := annotations.String(name)
	if text == "" {
		return nil
	}
	v, _, err := codec.DecodeAny([]byte(text))
	if err != nil {
		return nil
	}
	return v
}

// isCPU reports whether m is a CPU metric. Unlike v1, m may have an absolute target.
func isCPU(m tree.Tree) bool {
	return m.String("type") == "Resource" && m.Object("resource").String("name") == "cpu"
}

func cpuTarget(m tree.Tree) (int64, bool) {
	n, _ := m.Object("resource", "target").Int("averageUtilization")
	return n, reflect.DeepEqual(m, cpuMetric(n))
}

func cpuMetricPlaceholder() tree.Tree {
	return tree.Tree{"type": "Resource", "resource": tree.Tree{"name": "cpu"}}
}

// insertCPUMetric moves the CPU metric from its v1 field to the position of the placeholder, or to
// the front if there is none. It drops the placeholder if the client has removed the percentage.
func insertCPUMetric(others []any, spec tree.Tree) []any {
	percent, given := spec.Int(targetCPU)
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

// insertCurrentCPU moves the observed CPU percentage from its v1 field to its metric. The field
// takes precedence over the annotation, because v1 clients write only the field.
func insertCurrentCPU(current []any, status tree.Tree) []any {
	percent, given := status.Int(currentCPU)
	delete(status, currentCPU)
	if !given {
		return current
	}
	for _, v := range current {
		m, _ := v.(tree.Tree)
		if observed := m.Object("resource", "current"); isCPU(m) && observed.Has("averageUtilization") {
			observed["averageUtilization"] = percent
			return current
		}
	}
	if len(current) > 0 {
		return current
	}
	resource := tree.Tree{"name": "cpu", "current": tree.Tree{"averageUtilization": percent}}
	return []any{tree.Tree{"type": "Resource", "resource": resource}}
}
