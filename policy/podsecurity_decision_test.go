package policy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
)

var podResource = meta.GroupResource{Resource: "pods"}

func TestDecideNamesOfProfile(t *testing.T) {
	for naming, domains := range map[*meta.Naming][2]string{
		meta.Platform:   {"pod-security.platform.io/", "container.apparmor.security.beta.platform.io/c"},
		meta.Kubernetes: {"pod-security.kubernetes.io/", "container.apparmor.security.beta.kubernetes.io/c"},
	} {
		domain, annotation := domains[0], domains[1]
		o := &fakeObjects{labels: map[string]string{domain + "enforce": "baseline"}}
		pod := tree.Tree{"metadata": tree.Tree{"annotations": tree.Tree{annotation: "unconfined"}}}
		a := newAdmission(o, naming)
		text := `PodSecurity "baseline:latest": forbidden AppArmor profile (annotation must not set AppArmor profile type to "` +
			annotation + `="unconfined"")`
		want := podsecurity.Decision{
			Forbidden:   "violates " + text,
			Annotations: []podsecurity.Annotation{{Key: domain + "enforce-policy", Value: "baseline:latest"}},
		}
		if got := a.Decide(podsecurity.Request{Resource: podResource, Namespace: "n", New: pod}); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v", got)
		}
		template := tree.Tree{"spec": tree.Tree{"template": pod}}
		want = podsecurity.Decision{Warnings: []string{"would violate " + text}}
		got := a.Decide(podsecurity.Request{Resource: meta.GroupResource{Group: "apps", Resource: "deployments"}, Namespace: "n", New: template})
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v", got)
		}
		want = podsecurity.Decision{Annotations: []podsecurity.Annotation{{Key: domain + "exempt", Value: "user"}}}
		if got := a.Decide(podsecurity.Request{Resource: podResource, User: "root", Namespace: "n", New: pod}); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v", got)
		}
	}
}

func TestMetricsAreBounded(t *testing.T) {
	o := &fakeObjects{}
	a := newAdmission(o, meta.Platform)
	for _, version := range []string{"v1.37", "v1.38", "v1.39", "v1.1000"} {
		o.labels = map[string]string{"pod-security.platform.io/enforce": "baseline", "pod-security.platform.io/enforce-version": version}
		a.Decide(podsecurity.Request{Resource: podResource, Namespace: "n", User: version, New: tree.Tree{}})
	}
	var text strings.Builder
	a.WriteMetrics(&text)
	for _, line := range []string{
		"# TYPE pod_security_evaluations_total counter",
		`pod_security_evaluations_total{decision="allow",mode="enforce",policy_level="baseline",policy_version="future",request_operation="create",resource="pod",subresource=""} 3`,
		`pod_security_evaluations_total{decision="allow",mode="enforce",policy_level="baseline",policy_version="v1.37",request_operation="create",resource="pod",subresource=""} 1`,
	} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, &text)
		}
	}
	if n := strings.Count(text.String(), "\n"); n != 8 {
		t.Errorf("%d lines:\n%s", n, &text)
	}
}

func TestDecideAllocatesLittle(t *testing.T) {
	a := newAdmission(&fakeObjects{}, meta.Platform)
	r := podsecurity.Request{Resource: podResource, Namespace: "n", User: "jane", New: tree.Tree{}}
	a.Decide(r)
	if n := testing.AllocsPerRun(100, func() { a.Decide(r) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
