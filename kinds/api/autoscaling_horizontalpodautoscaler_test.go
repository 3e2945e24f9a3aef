package api_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/convert"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func autoscaler(t testing.TB, version string) *schema.Kind {
	return KindByGVK(t, meta.Kubernetes, "autoscaling", version, "HorizontalPodAutoscaler")
}

func TestAutoscalerDefaults(t *testing.T) {
	k := autoscaler(t, "v2")
	const up = `{"selectPolicy":"Max","stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":4,"periodSeconds":60},{"type":"Percent","value":100,"periodSeconds":60}]}`
	const down = `{"selectPolicy":"Max","stabilizationWindowSeconds":300,"policies":[{"type":"Percent","value":100,"periodSeconds":15}]}`
	for _, c := range []struct{ given, field, want string }{
		{``, "minReplicas", `1`},
		{``, "metrics", `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{`"metrics":[]`, "metrics", `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{`"metrics":[{"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"1"}}}]`, "metrics",
			`[{"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"1"}}}]`},
		{``, "behavior", `null`},
		{`"behavior":{}`, "behavior", `{"scaleUp":` + up + `,"scaleDown":` + down + `}`},
		{`"behavior":{"scaleUp":{"policies":[{"type":"Pods","value":1,"periodSeconds":1}]},"scaleDown":{"selectPolicy":"Disabled","stabilizationWindowSeconds":5}}`, "behavior",
			`{"scaleUp":{"selectPolicy":"Max","stabilizationWindowSeconds":0,"policies":[{"type":"Pods","value":1,"periodSeconds":1}]},
			"scaleDown":{"selectPolicy":"Disabled","stabilizationWindowSeconds":5,"policies":[{"type":"Percent","value":100,"periodSeconds":15}]}}`},
	} {
		obj := Named(k, tree.Tree{"spec": Merged(t, autoscaled, c.given), "status": tree.Tree{"desiredReplicas": int64(9)}})
		Expect(t, c.given, Create(k, obj), nil)
		EqualJSON(t, c.given, obj.Object("spec")[c.field], c.want)
		if obj.Object("status").Has("desiredReplicas") {
			t.Error("a create keeps the status of the client")
		}
	}
}

func TestAutoscalerRules(t *testing.T) {
	scaling := func(fields string) string { return `"behavior":{"scaleDown":{` + fields + `}}` }
	metric := func(fields string) string { return `"metrics":[{` + fields + `}]` }
	const down, first = "spec.behavior.scaleDown.", "spec.metrics[0]."
	value := `"target":{"type":"Value","value":"1"}`
	RunCreateCases(t, autoscaler(t, "v2"), autoscaled, []CreateCase{
		{Name: "complete", Spec: ``, Want: nil},
		{Name: "max missing", Spec: `"maxReplicas":null`, Want: []string{"spec.maxReplicas: Invalid value: 0: must be greater than 0", "spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`"}},
		{Name: "max below min", Spec: `"minReplicas":4`, Want: []string{"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"}},
		{Name: "zero without a metric", Spec: `"minReplicas":0`, Want: []string{"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
			"spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"}},
		{Name: "zero with a metric", Spec: `"minReplicas":0,` + metric(`"type":"External","external":{"metric":{"name":"q"},`+value+`}`), Want: []string{"spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"}},
		{Name: "no target", Spec: `"scaleTargetRef":{"apiVersion":"apps/v1"}`, Want: []string{"spec.scaleTargetRef.kind: Required value", "spec.scaleTargetRef.name: Required value"}},
		{Name: "target of no path", Spec: `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"a/b","name":".."}`, Want: []string{`spec.scaleTargetRef.kind: Invalid value: "a/b": may not contain '/'`,
			`spec.scaleTargetRef.name: Invalid value: "..": may not be '..'`}},
		{Name: "target version", Spec: `"scaleTargetRef":{"apiVersion":"a/b/c","kind":"Deployment","name":"d"}`, Want: []string{`spec.scaleTargetRef.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c`}},
		{Name: "target group", Spec: `"scaleTargetRef":{"apiVersion":"v1","kind":"Deployment","name":"d"}`, Want: []string{`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`}},
		{Name: "target of the core", Spec: `"scaleTargetRef":{"apiVersion":"v1","kind":"ReplicationController","name":"d"}`, Want: nil},

		{Name: "no policies", Spec: scaling(`"policies":[]`), Want: []string{down + "policies: Required value: must specify at least one Policy"}},
		{Name: "policy", Spec: scaling(`"policies":[{}]`), Want: []string{down + `policies[0].type: Unsupported value: "": supported values: "Percent", "Pods"`,
			down + "policies[0].value: Invalid value: 0: must be greater than zero", down + "policies[0].periodSeconds: Invalid value: 0: must be greater than zero"}},
		{Name: "policy type", Spec: scaling(`"policies":[{"type":"Nodes","value":1,"periodSeconds":1}]`), Want: []string{down + `policies[0].type: Unsupported value: "Nodes": supported values: "Percent", "Pods"`}},
		{Name: "long period", Spec: scaling(`"policies":[{"type":"Pods","value":1,"periodSeconds":1801}]`), Want: []string{down + "policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"}},
		{Name: "longest period", Spec: scaling(`"policies":[{"type":"Pods","value":1,"periodSeconds":1800}]`), Want: nil},
		{Name: "empty select policy", Spec: scaling(`"selectPolicy":""`), Want: []string{down + `selectPolicy: Unsupported value: "": supported values: "Disabled", "Max", "Min"`}},
		{Name: "select policy", Spec: scaling(`"selectPolicy":"Avg"`), Want: []string{down + `selectPolicy: Unsupported value: "Avg": supported values: "Disabled", "Max", "Min"`}},
		{Name: "window below", Spec: scaling(`"stabilizationWindowSeconds":-1`), Want: []string{down + "stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero"}},
		{Name: "window above", Spec: scaling(`"stabilizationWindowSeconds":3601`), Want: []string{down + "stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600"}},
		{Name: "window at most", Spec: scaling(`"stabilizationWindowSeconds":3600`), Want: nil},
		{Name: "up", Spec: `"behavior":{"scaleUp":{"stabilizationWindowSeconds":-1}}`, Want: []string{"spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: -1: must be greater than or equal to zero"}},
		{Name: "tolerance", Spec: scaling(`"tolerance":"-1"`), Want: []string{down + `tolerance: Invalid value: "-1": must be greater than or equal to 0`}},

		{Name: "no type", Spec: metric(``), Want: []string{first + "type: Required value: must specify a metric source type",
			first + `type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`}},
		{Name: "unknown type", Spec: metric(`"type":"Moon"`), Want: []string{first + `type: Unsupported value: "Moon": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`}},
		{Name: "no source", Spec: metric(`"type":"ContainerResource"`), Want: []string{first + "containerResource: Required value: must populate information for the given metric source"}},
		{Name: "two sources", Spec: metric(`"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"1"}},"resource":{}`), Want: []string{first + "resource: Forbidden: must populate the given metric source only"}},
		{Name: "container resource", Spec: metric(`"type":"ContainerResource","containerResource":{"target":{"type":"Utilization"}}`), Want: []string{first + "containerResource.name: Required value: must specify a resource name",
			first + "containerResource.container: Required value: must specify a container",
			first + "containerResource.target.averageUtilization: Required value: must set either a target raw value or a target utilization"}},
		{Name: "resource", Spec: metric(`"type":"Resource","resource":{"target":{"type":"Utilization","averageUtilization":0,"averageValue":"0"}}`), Want: []string{first + "resource.name: Required value: must specify a resource name",
			first + `resource.target.averageValue: Invalid value: "0": must be positive`, first + "resource.target.averageUtilization: Invalid value: 0: must be greater than 0",
			first + "resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization"}},
		{Name: "external", Spec: metric(`"type":"External","external":{"metric":{},"target":{"type":"Value"}}`), Want: []string{first + "external.metric.name: Required value: must specify a metric name",
			first + "external.target.averageValue: Required value: must set either a target value for metric or a per-pod target"}},
		{Name: "external with both", Spec: metric(`"type":"External","external":{"metric":{"name":"a/b"},"target":{"type":"Value","value":"1","averageValue":"1"}}`), Want: []string{
			first + `external.metric.name: Invalid value: "a/b": may not contain '/'`, first + "external.target.value: Forbidden: may not set both a target value for metric and a per-pod target"}},
		{Name: "object", Spec: metric(`"type":"Object","object":{"describedObject":{"kind":"Service"},"metric":{},"target":{}}`), Want: []string{
			first + "object.describedObject.name: Required value", first + "object.metric.name: Required value: must specify a metric name",
			first + "object.target.type: Required value: must specify a metric target type", first + `object.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue`,
			first + "object.target.averageValue: Required value: must set either a target value for metric or a per-pod target"}},
		{Name: "object of the core", Spec: metric(`"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},"metric":{"name":"q"},` + value + `}`), Want: nil},
		{Name: "pods", Spec: metric(`"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"Odd","averageValue":"-1"}}`), Want: []string{first + `pods.target.type: Invalid value: "Odd": must be either Utilization, Value, or AverageValue`,
			first + `pods.target.averageValue: Invalid value: "-1": must be positive`}},
		{Name: "value", Spec: metric(`"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"0"}}`), Want: []string{first + `external.target.value: Invalid value: "0": must be positive`}},
	})
}

func TestAutoscalerStatus(t *testing.T) {
	k := autoscaler(t, "v2")
	obj := Named(k, Parse(t, `{"spec":{`+autoscaled+`}}`))
	Create(k, obj)
	obj["status"] = Parse(t, `{"currentReplicas":-1,"desiredReplicas":-1,"conditions":[{"type":"A","status":"True"},{"type":"A","status":"True"}]}`)
	Expect(t, "status", Lines(rules.Validate(k, obj)), []string{`status.conditions[1].type: Duplicate value: "A"`,
		"status.currentReplicas: Invalid value: -1: must be greater than or equal to 0", "status.desiredReplicas: Invalid value: -1: must be greater than or equal to 0"})
}

func TestAutoscalerDeprecation(t *testing.T) {
	d := autoscaler(t, "v2beta2").Deprecation
	if d == nil || *d != (schema.Deprecation{Since: "1.23", Removed: "1.26", Replacement: "autoscaling/v2 HorizontalPodAutoscaler"}) {
		t.Errorf("v2beta2: %v", d)
	}
	if autoscaler(t, "v1").Deprecation != nil || autoscaler(t, "v2").Deprecation != nil {
		t.Error("v1 and v2 are to stay")
	}
}

// TestAutoscalerV1: v1 keeps values without a field in annotations.
func TestAutoscalerV1(t *testing.T) {
	const prefix = "autoscaling.alpha.kubernetes.io/"
	cpu := `{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}`
	pods := `{"type":"Pods","pods":{"metric":{"name":"q","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"30"}}}`
	oldPods := `{"pods":{"metricName":"q","selector":{"matchLabels":{"a":"b"}},"targetAverageValue":"30"},"type":"Pods"}`
	for _, c := range []struct{ name, spec, status, want string }{
		{"cpu", `"metrics":[` + cpu + `]`, `{}`, `{"spec":{"targetCPUUtilizationPercentage":50},"status":{}}`},
		{"cpu first", `"metrics":[` + cpu + `,` + pods + `]`, `{}`, `{"metadata":{"metrics":[` + oldPods + `]},"spec":{"targetCPUUtilizationPercentage":50},"status":{}}`},
		{"cpu last", `"metrics":[` + pods + `,` + cpu + `]`, `{}`, `{"metadata":{"metrics":[` + oldPods + `,{"resource":{"name":"cpu"},"type":"Resource"}]},"spec":{"targetCPUUtilizationPercentage":50},"status":{}}`},
		{"no cpu", `"metrics":[` + pods + `]`, `{}`, `{"metadata":{"metrics":[` + oldPods + `]},"spec":{},"status":{}}`},
		{"no form", `"metrics":[{"type":"Pods","pods":{"metric":{"name":"q"},"target":{"type":"Value","averageValue":"30"}}}]`, `{}`,
			`{"metadata":{"metrics":[{"pods":{"metric":{"name":"q"},"target":{"averageValue":"30","type":"Value"}},"type":"Pods"}]},"spec":{},"status":{}}`},
		{"behaviour", `"metrics":[` + cpu + `],"behavior":{"scaleUp":{"selectPolicy":"Min","tolerance":"500m"}}`, `{}`,
			`{"metadata":{"behavior":{"scaleUp":{"selectPolicy":"Min"}},"scale-up-tolerance":"500m"},"spec":{"targetCPUUtilizationPercentage":50},"status":{}}`},
		{"status", `"metrics":[` + cpu + `]`, `{"conditions":[{"type":"A","status":"True"}],"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":7,"averageValue":"1"}}}]}`,
			`{"metadata":{"conditions":[{"status":"True","type":"A"}],"current-metrics":[{"resource":{"currentAverageUtilization":7,"currentAverageValue":"1","name":"cpu"},"type":"Resource"}]},
			"spec":{"targetCPUUtilizationPercentage":50},"status":{"currentCPUUtilizationPercentage":7}}`},
	} {
		stored := tree.Tree{"metadata": tree.Tree{"name": "x"}, "spec": Parse(t, "{"+c.spec+"}"), "status": Parse(t, c.status)}
		converted := convert.FromStored(autoscaler(t, "v1"), nil, stored)
		for name, text := range converted.Object("metadata", "annotations") {
			short := strings.TrimPrefix(name, prefix)
			v, _, err := codec.DecodeAny([]byte(text.(string)))
			if err != nil {
				v = text
			}
			converted.EnsureObject("metadata")[short] = v
		}
		metadata := converted.Object("metadata")
		delete(metadata, "annotations")
		delete(metadata, "name")
		if len(metadata) == 0 {
			delete(converted, "metadata")
		}
		EqualJSON(t, c.name, converted, c.want)
	}
}

func TestAutoscalerV1Create(t *testing.T) {
	const name = `"autoscaling.alpha.kubernetes.io/`
	for _, c := range []struct{ name, annotations, spec, want string }{
		{"default", ``, ``, `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{"target", ``, `,"targetCPUUtilizationPercentage":50`, `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}}]`},
		{"others", name + `metrics":"[{\"type\":\"External\",\"external\":{\"metricName\":\"q\",\"metricSelector\":{\"matchLabels\":{\"a\":\"b\"}},\"targetAverageValue\":30}}]"`,
			`,"targetCPUUtilizationPercentage":50`, `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":50}}},
			{"type":"External","external":{"metric":{"name":"q","selector":{"matchLabels":{"a":"b"}}},"target":{"type":"AverageValue","averageValue":"30"}}}]`},
		{"object", name + `metrics":"[{\"type\":\"Object\",\"object\":{\"target\":{\"kind\":\"Service\",\"name\":\"s\"},\"metricName\":\"q\",\"targetValue\":\"0\",\"averageValue\":\"2\"}}]"`, ``,
			`[{"type":"Object","object":{"describedObject":{"kind":"Service","name":"s"},"metric":{"name":"q"},"target":{"type":"AverageValue","averageValue":"2"}}}]`},
		{"no JSON", name + `metrics":"["`, ``, `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{"no list", name + `metrics":"{\"a\":1}"`, ``, `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
		{"wrong types", name + `metrics":"[{\"type\":5}]"`, ``, `[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]`},
	} {
		k := autoscaler(t, "v1")
		obj := Named(k, Parse(t, `{"metadata":{"annotations":{`+c.annotations+`}},"spec":{`+autoscaled+c.spec+`}}`))
		stored := convert.ToStored(k, obj)
		EqualJSON(t, c.name, stored.Object("spec")["metrics"], c.want)
		if stored.Object("metadata").Has("annotations") {
			t.Errorf("%s: annotations stay: %v", c.name, stored["metadata"])
		}
		Expect(t, c.name, Lines(rules.Validate(k.Stored, stored)), nil)
	}
}

// TestAutoscalerAnnotations: the stored version drops the annotations of older versions.
func TestAutoscalerAnnotations(t *testing.T) {
	k := autoscaler(t, "v2")
	obj := Named(k, Parse(t, `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/metrics":"[]","autoscaling.alpha.kubernetes.io/scale-up-tolerance":"1","a":"b"}},"spec":{`+autoscaled+`}}`))
	Create(k, obj)
	EqualJSON(t, "annotations", obj.Object("metadata")["annotations"], `{"a":"b"}`)
}

// TestAutoscalerRoundTrip: a stored object survives a conversion to every version and back.
func TestAutoscalerRoundTrip(t *testing.T) {
	stored := autoscaler(t, "v2")
	for _, version := range []string{"v1", "v2beta2"} {
		k := autoscaler(t, version)
		for seed := range 300 {
			r := rand.New(rand.NewSource(int64(seed)))
			obj := randomAutoscaler(r)
			rules.Default(stored, obj)
			before := tree.Clone(obj).(tree.Tree)
			converted := convert.FromStored(k, nil, obj)
			if !reflect.DeepEqual(obj, before) {
				t.Fatalf("%s, seed %d: showing changes what is stored", version, seed)
			}
			body := codec.EncodeJSON(k, converted).JSON
			again, faults, err := codec.DecodeJSON(k.Message(), body)
			if err != nil || len(faults) > 0 {
				t.Fatalf("%s, seed %d: %v %v in %s", version, seed, err, faults, body)
			}
			back := convert.ToStored(k, again)
			if want, got := toJSON(stored, before), toJSON(stored, back); want != got {
				t.Fatalf("%s, seed %d:\n stored %s\n converted  %s\n back   %s", version, seed, want, body, got)
			}
		}
	}
}

func toJSON(k *schema.Kind, obj tree.Tree) string { return string(codec.EncodeJSON(k, obj).JSON) }

// randomAutoscaler returns an autoscaler with random fields, not necessarily valid.
func randomAutoscaler(r *rand.Rand) tree.Tree {
	spec := tree.Tree{"scaleTargetRef": tree.Tree{"kind": "Deployment", "name": "d", "apiVersion": "apps/v1"},
		"maxReplicas": int64(r.Intn(9)), "minReplicas": int64(r.Intn(3))}
	var metrics, current []any
	for range r.Intn(4) {
		metrics = append(metrics, randomMetric(r, "target"))
	}
	for range r.Intn(4) {
		current = append(current, randomMetric(r, "current"))
	}
	if len(metrics) > 0 {
		spec["metrics"] = metrics
	}
	if r.Intn(2) == 0 {
		behavior := tree.Tree{}
		for _, direction := range []string{"scaleUp", "scaleDown"} {
			if r.Intn(2) == 0 {
				scaling := tree.Tree{"policies": []any{tree.Tree{"type": "Pods", "value": int64(r.Intn(5)), "periodSeconds": int64(r.Intn(60))}}}
				maybe(r, scaling, "tolerance", "100m")
				maybe(r, scaling, "selectPolicy", "Min")
				behavior[direction] = scaling
			}
		}
		spec["behavior"] = behavior
	}
	status := tree.Tree{"desiredReplicas": int64(r.Intn(3))}
	maybe(r, status, "currentReplicas", int64(r.Intn(3)))
	maybe(r, status, "observedGeneration", int64(4))
	maybe(r, status, "lastScaleTime", "2026-01-02T03:04:05Z")
	maybe(r, status, "conditions", []any{tree.Tree{"type": "A", "status": "True", "reason": "R", "message": "<&>\"", "lastTransitionTime": "2026-01-02T03:04:05Z"}})
	if len(current) > 0 {
		status["currentMetrics"] = current
	}
	metadata := tree.Tree{"name": "x", "namespace": "ns"}
	maybe(r, metadata, "annotations", tree.Tree{"a": "b"})
	return tree.Tree{"metadata": metadata, "spec": spec, "status": status}
}

func maybe(r *rand.Rand, t tree.Tree, name string, v any) {
	if r.Intn(2) == 0 {
		t[name] = v
	}
}

// randomMetric returns a metric with its values below "target" or "current".
func randomMetric(r *rand.Rand, under string) tree.Tree {
	if r.Intn(3) == 0 && under == "target" {
		return tree.Tree{"type": "Resource", "resource": tree.Tree{"name": "cpu", under: tree.Tree{"type": "Utilization", "averageUtilization": int64(1 + r.Intn(99))}}}
	}
	amounts := tree.Tree{}
	if under == "target" {
		amounts["type"] = []string{"Utilization", "Value", "AverageValue"}[r.Intn(3)]
	}
	maybe(r, amounts, "value", fmt.Sprint(r.Intn(3)))
	maybe(r, amounts, "averageValue", "30m")
	maybe(r, amounts, "averageUtilization", int64(r.Intn(3)))
	metric := tree.Tree{"name": "q"}
	maybe(r, metric, "selector", tree.Tree{"matchLabels": tree.Tree{"a": "b"}})
	types := []string{"Resource", "ContainerResource", "Pods", "External", "Object"}
	source := tree.Tree{under: amounts}
	kind := types[r.Intn(len(types))]
	switch kind {
	case "Resource", "ContainerResource":
		source["name"] = []string{"cpu", "memory"}[r.Intn(2)]
		if kind == "ContainerResource" {
			source["container"] = "c"
		}
	case "Object":
		source["describedObject"] = tree.Tree{"kind": "Service", "name": "s"}
		source["metric"] = metric
	default:
		source["metric"] = metric
	}
	return tree.Tree{"type": kind, strings.ToLower(kind[:1]) + kind[1:]: source}
}

const autoscaled = `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"maxReplicas":3`
