package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/tree"
)

// plainPod is a Pod without warnings. It sets every field that the warning checks examine.
const plainPod = `{"metadata":{"name":"a","annotations":{"a":"b"}},"spec":{"nodeSelector":{"a":"b"},"securityContext":{},
	"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"Exists"}]}]}},
		"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"z","labelSelector":{}}]}},
	"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"z","labelSelector":{}}],
	"hostAliases":[{"ip":"1.2.3.4"},{"ip":"2001:db8::1"}],"imagePullSecrets":[{"name":"a"},{"name":"b"}],"dnsConfig":{"nameservers":["1.2.3.4"]},
	"volumes":[{"name":"e","emptyDir":{}},{"name":"c","configMap":{"name":"m","items":[{"key":"a","path":"a"},{"key":"b","path":"b"}]}},
		{"name":"t","projected":{"sources":[{"serviceAccountToken":{"path":"token"}},{"configMap":{"name":"ca","items":[{"key":"ca.crt","path":"ca.crt"}]}},
			{"downwardAPI":{"items":[{"path":"namespace","fieldRef":{"fieldPath":"metadata.namespace"}}]}}]}},
		{"name":"p","ephemeral":{"volumeClaimTemplate":{"spec":{"resources":{"requests":{"storage":"1Gi"}}}}}}],
	"initContainers":[{"name":"i","image":"i"}],
	"containers":[{"name":"c","image":"i","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"ports":[{"name":"h","containerPort":80,"protocol":"TCP"}],
		"resources":{"limits":{"memory":"1Gi","cpu":"100m"},"requests":{"memory":"1Gi"}}},{"name":"d","image":"i","ports":[{"containerPort":80,"protocol":"UDP"}]}]}}`

// maxAllocations limits the allocations of a check that returns no warnings: one for a list and
// two for field paths.
const maxAllocations = 3

// TestNoWarnings checks that a Pod without warnings causes few allocations.
func TestNoWarnings(t *testing.T) {
	k := KindByGVK(t, meta.Kubernetes, "", "v1", "Pod")
	obj := Parse(t, plainPod)
	if texts := rules.Warnings(k, obj, nil); texts != nil {
		t.Fatalf("%q", texts)
	}
	if n := testing.AllocsPerRun(100, func() { rules.Warnings(k, obj, nil) }); n > maxAllocations {
		t.Errorf("%v allocations", n)
	}
	template := KindByGVK(t, meta.Kubernetes, "", "v1", "PodTemplate")
	whole := tree.Tree{"template": obj}
	if n := testing.AllocsPerRun(100, func() { rules.Warnings(template, whole, nil) }); n > maxAllocations {
		t.Errorf("%v allocations of a template", n)
	}
}

func BenchmarkNoWarnings(b *testing.B) {
	k := KindByGVK(b, meta.Kubernetes, "", "v1", "Pod")
	obj := Parse(b, plainPod)
	b.ReportAllocs()
	for b.Loop() {
		rules.Warnings(k, obj, nil)
	}
}

func TestManyWarnings(t *testing.T) {
	k := KindByGVK(t, meta.Kubernetes, "", "v1", "Pod")
	const many = 20_000
	ports := strings.Repeat(`{"containerPort":80,"protocol":"TCP"},`, many)
	files := strings.Repeat(`{"key":"k","path":"a"},`, many)
	obj := Parse(t, fmt.Sprintf(`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","ports":[%s]}],"volumes":[{"name":"v","configMap":{"items":[%s]}}]}}`,
		strings.TrimSuffix(ports, ","), strings.TrimSuffix(files, ",")))
	if n := len(rules.Warnings(k, obj, nil)); n < 256 || n > 1000 {
		t.Errorf("%d warnings", n)
	}
}
