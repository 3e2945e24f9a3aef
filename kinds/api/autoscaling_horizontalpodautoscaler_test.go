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

// randomMetric returns a random metric. under is the field that contains its values, "target" or
// "current".
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
