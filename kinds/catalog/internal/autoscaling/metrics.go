package autoscaling

import (
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/catalog/internal/resourcelist"
	"github.com/troupe-api/troupe/kinds/quantity"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// metricTypes are the types of metrics. The source of a metric is in the field of the same name, with
// a lower-case first letter.
var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

// metricSources are the fields of the types, in the order in which faults are reported.
var metricSources = []string{"object", "external", "pods", "resource", "containerResource"}

// validateMetrics checks the metrics of an autoscaler. fromZero says that it may scale to zero, which
// requires a metric that exists without Pods. With no Pods left, their usage says nothing about when one is
// needed again, but a queue's length does.
func validateMetrics(spec tree.Tree, fromZero bool, faults *schema.Faults) {
	awake := false
	for i, m := range spec.Objects("metrics") {
		validateMetric(m, tree.IndexPath("spec.metrics", i), faults)
		kind := m.String("type")
		awake = awake || kind == "Object" || kind == "External"
	}
	if fromZero && !awake {
		faults.Forbidden("spec.metrics", "must specify at least one Object or External metric to support scaling to zero replicas")
	}
}

// validateMetric reports at most one source in depth, the first, since with several it is unclear which one
// is meant.
func validateMetric(m tree.Tree, path string, faults *schema.Faults) {
	kind := m.String("type")
	if kind == "" {
		faults.Required(path+".type", "must specify a metric source type")
	}
	known := slices.Contains(metricTypes, kind)
	if !known {
		faults.NotSupported(path+".type", kind, metricTypes)
	}
	expected := ""
	if known {
		expected = strings.ToLower(kind[:1]) + kind[1:]
	}
	var present []string
	for _, name := range metricSources {
		if source := m.Object(name); source != nil {
			if present = append(present, name); len(present) == 1 {
				validateMetricSource(name, source, tree.FieldPath(path, name), faults)
			}
		}
	}
	if known && !slices.Contains(present, expected) {
		faults.Required(tree.FieldPath(path, expected), "must populate information for the given metric source")
	}
	for _, name := range present {
		if name != expected && len(present) > 1 {
			faults.Forbidden(tree.FieldPath(path, name), "must populate the given metric source only")
		}
	}
}

// validateMetricSource checks the source of a metric, which is in the field name. Pods have no total value:
// their metric is an average over them by nature. An external metric has one of both values; for that of an
// object both may be given, as v1 always sends a value.
func validateMetricSource(name string, source tree.Tree, path string, faults *schema.Faults) {
	target := source.Object("target")
	at := path + ".target"
	switch name {
	case "object":
		validateReference(source.Object("describedObject"), path+".describedObject", true, faults)
		validateMetricName(source.Object("metric"), path+".metric", faults)
		validateMetricTarget(target, at, faults)
		validateMetricValue(target, at, faults)
	case "external":
		validateMetricName(source.Object("metric"), path+".metric", faults)
		validateMetricTarget(target, at, faults)
		validateMetricValue(target, at, faults)
		if target.Has("value") && target.Has("averageValue") {
			faults.Forbidden(at+".value", "may not set both a target value for metric and a per-pod target")
		}
	case "pods":
		validateMetricName(source.Object("metric"), path+".metric", faults)
		validateMetricTarget(target, at, faults)
		if !target.Has("averageValue") {
			faults.Required(at+".averageValue", "must specify a positive target averageValue")
		}
	default:
		validateResourceSource(name, source, path, faults)
	}
}

// validateMetricValue requires a value or an average value.
func validateMetricValue(target tree.Tree, path string, faults *schema.Faults) {
	if !target.Has("value") && !target.Has("averageValue") {
		faults.Required(path+".averageValue", "must set either a target value for metric or a per-pod target")
	}
}

// validateResourceSource checks a metric of the resource usage of Pods or of one container. Utilization is
// relative to the requests of the Pods, and the value absolute; they are alternatives.
func validateResourceSource(name string, source tree.Tree, path string, faults *schema.Faults) {
	if source.String("name") == "" {
		faults.Required(path+".name", "must specify a resource name")
	}
	if name == "containerResource" {
		validateContainerSource(source, path, faults)
	}
	target := source.Object("target")
	at := path + ".target"
	validateMetricTarget(target, at, faults)
	switch share, amount := target.Has("averageUtilization"), target.Has("averageValue"); {
	case !share && !amount:
		faults.Required(at+".averageUtilization", "must set either a target raw value or a target utilization")
	case share && amount:
		faults.Forbidden(at+".averageValue", "may not set both a target raw value and a target utilization")
	}
}

// validateContainerSource checks what a metric of one container says beyond one of Pods: the container, and a resource that
// containers have.
func validateContainerSource(source tree.Tree, path string, faults *schema.Faults) {
	if resource := source.String("name"); resource != "" {
		resourcelist.ValidateContainerName(resource, path+".name", faults)
	}
	container := source.String("container")
	if container == "" {
		faults.Required(path+".container", "must specify a container")
		return
	}
	for _, msg := range rules.Label(container) {
		faults.Invalid(path+".container", container, msg)
	}
}

// validateMetricName keeps a name usable as part of a path, because the controller asks the metrics API for
// it by URL.
func validateMetricName(metric tree.Tree, path string, faults *schema.Faults) {
	name := metric.String("name")
	if name == "" {
		faults.Required(path+".name", "must specify a metric name")
	}
	for _, msg := range rules.PathSegment(name) {
		faults.Invalid(path+".name", name, msg)
	}
}

// validateMetricTarget does not compare the type with the field that is set: old clients sent one that did
// not fit, and the controller goes by the field.
func validateMetricTarget(target tree.Tree, path string, faults *schema.Faults) {
	kind := target.String("type")
	if kind == "" {
		faults.Required(path+".type", "must specify a metric target type")
	}
	if !slices.Contains([]string{"Utilization", "Value", "AverageValue"}, kind) {
		faults.Invalid(path+".type", kind, "must be either Utilization, Value, or AverageValue")
	}
	for _, name := range []string{"value", "averageValue"} {
		if q := target.String(name); q != "" && quantity.Compare(q, "0") <= 0 {
			faults.Invalid(tree.FieldPath(path, name), q, "must be positive")
		}
	}
	if n, ok := target.Int("averageUtilization"); ok && n < 1 {
		faults.Invalid(path+".averageUtilization", n, "must be greater than 0")
	}
}

// validateReference checks a reference by kind and name. core allows an empty API version, which
// stands for the core group.
func validateReference(ref tree.Tree, path string, core bool, faults *schema.Faults) {
	for _, name := range []string{"kind", "name"} {
		s := ref.String(name)
		if s == "" {
			faults.Required(tree.FieldPath(path, name))
		}
		for _, msg := range rules.PathSegment(s) {
			faults.Invalid(tree.FieldPath(path, name), s, msg)
		}
	}
	version := ref.String("apiVersion")
	switch group, _, grouped := strings.Cut(version, "/"); {
	case strings.Count(version, "/") > 1:
		faults.Invalid(path+".apiVersion", version, "unexpected GroupVersion string: "+version)
	case !core && (!grouped || group == ""):
		faults.Invalid(path+".apiVersion", version, "apiVersion must specify API group")
	}
}
