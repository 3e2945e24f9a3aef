package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/test/client"
)

// resources lists the resources that Pod security admission checks.
var resources = []struct {
	group, resource, kind string
	make                  func() runtime.Object
	template              string // path of the Pod
}{
	{"", "namespaces", "Namespace", func() runtime.Object { return &corev1.Namespace{} }, ""},
	{"", "pods", "Pod", func() runtime.Object { return &corev1.Pod{} }, ""},
	{"", "replicationcontrollers", "ReplicationController", func() runtime.Object { return &corev1.ReplicationController{} }, "spec.template"},
	{"", "podtemplates", "PodTemplate", func() runtime.Object { return &corev1.PodTemplate{} }, "template"},
	{"apps", "replicasets", "ReplicaSet", func() runtime.Object { return &appsv1.ReplicaSet{} }, "spec.template"},
	{"apps", "deployments", "Deployment", func() runtime.Object { return &appsv1.Deployment{} }, "spec.template"},
	{"apps", "statefulsets", "StatefulSet", func() runtime.Object { return &appsv1.StatefulSet{} }, "spec.template"},
	{"apps", "daemonsets", "DaemonSet", func() runtime.Object { return &appsv1.DaemonSet{} }, "spec.template"},
	{"batch", "jobs", "Job", func() runtime.Object { return &batchv1.Job{} }, "spec.template"},
	{"batch", "cronjobs", "CronJob", func() runtime.Object { return &batchv1.CronJob{} }, "spec.jobTemplate.spec.template"},
}

// labels returns random Pod security labels, some of them invalid.
func (g Generator) labels() map[string]string {
	levels := []string{"privileged", "baseline", "restricted", "restricted", "Baseline", ""}
	versions := []string{"latest", "v1.0", "v1.24", "v1.35", "v1.99", "v1.024", "1.24", ""}
	labels := map[string]string{}
	for _, mode := range []string{"enforce", "audit", "warn"} {
		if g.Intn(2) == 0 {
			labels["pod-security.kubernetes.io/"+mode] = levels[min(g.Intn(12), g.Intn(len(levels)))]
		}
		if g.Intn(3) == 0 {
			labels["pod-security.kubernetes.io/"+mode+"-version"] = versions[min(g.Intn(12), g.Intn(len(versions)))]
		}
	}
	return labels
}

// object returns a random object of a resource, which may contain a random Pod or Pod template.
func (g Generator) object(resource int) object {
	o := object{"metadata": object{"name": "x"}}
	switch r := resources[resource]; {
	case r.resource == "namespaces":
		set(o, "metadata.name", []string{"x", "exempt"}[g.Intn(2)])
		set(o, "metadata.labels", g.labels())
	case r.resource == "pods":
		o = g.Pod()
	case r.resource != "replicationcontrollers" || g.Intn(4) > 0:
		set(o, r.template, g.Pod())
	}
	return o
}

// TestRandomWrites compares decisions, messages and metrics for random writes with the reference
// implementation.
func TestRandomWrites(t *testing.T) {
	for i, configuration := range configurations {
		p, g := newPair(t, configuration), Generator{rand.New(rand.NewSource(int64(i)))}
		outcomes := map[string]int{}
		for range 2000 {
			p.compareWrite(t, g, outcomes)
		}
		for _, outcome := range []string{"403", "422", "500", "annotated", "warned", "nothing"} {
			if outcomes[outcome] == 0 {
				t.Errorf("configuration %d: no outcome %q: %v", i, outcome, outcomes)
			}
		}
		if public, own := p.publicMetrics(t), p.ownMetrics(); public != own {
			t.Errorf("configuration %d: metrics\n%s\nown\n%s", i, public, own)
		}
	}
}

// compareWrite compares the decisions of both implementations on a random write. It counts status
// codes, annotations and warnings in outcomes.
func (p *pair) compareWrite(t *testing.T, g Generator, outcomes map[string]int) {
	t.Helper()
	p.cluster = podSecurityCluster{labels: g.labels()}
	if g.Intn(20) > 0 {
		p.cluster.namespace = &corev1.Namespace{}
		p.cluster.namespace.Labels = p.cluster.labels
	}
	p.populate(t, g)
	resource := g.Intn(len(resources))
	r := resources[resource]
	if r.resource != "pods" && g.Intn(3) == 0 {
		resource, r = 1, resources[1]
	}
	wanted := g.object(resource)
	var old object
	if g.Intn(2) == 0 {
		old = g.object(resource)
		if r.resource == "namespaces" || g.Intn(2) == 0 {
			old["metadata"] = maps.Clone(wanted["metadata"].(object))
		}
		if r.resource == "namespaces" && g.Intn(4) > 0 {
			set(old, "metadata.labels", g.labels())
		}
	}
	namespace := []string{"x", "x", "x", "exempt"}[g.Intn(4)]
	if r.resource == "namespaces" {
		namespace = wanted["metadata"].(object)["name"].(string)
	}
	user := []string{"jane", "jane", "jane", "exempt"}[g.Intn(4)]
	subresource := ""
	if old != nil && g.Intn(4) == 0 {
		subresource = map[string]string{"pods": "ephemeralcontainers"}[r.resource]
	}
	public := p.decidePublic(t, resource, user, namespace, subresource, old, wanted)
	own := p.decideOwn(t, resource, user, namespace, subresource, old, wanted)
	if public != own {
		was, _ := json.Marshal(old)
		is, _ := json.Marshal(wanted)
		t.Fatalf("%s/%s by %s in %s %v:\nold %s\nnew %s\npublic %s\nown    %s", r.resource, subresource, user, namespace, p.cluster.labels, was, is, public, own)
	}
	count(own, outcomes)
}

func count(outcome string, outcomes map[string]int) {
	for word, part := range map[string]string{"403": "403 ", "422": "422 ", "500": "500 ", "annotated": "annotation ", "warned": "warning "} {
		if strings.Contains(outcome, part) {
			outcomes[word]++
		}
	}
	if outcome == "" {
		outcomes["nothing"]++
	}
}

func (p *pair) populate(t *testing.T, g Generator) {
	t.Helper()
	for i := range g.Intn(6) {
		o := g.Pod()
		name, controller := fmt.Sprintf("p%d", 9-i), ""
		set(o, "metadata.name", name)
		if g.Intn(2) == 0 {
			controller = fmt.Sprint(g.Intn(2))
			set(o, "metadata.ownerReferences", list(object{"uid": controller, "controller": true}))
		}
		text := client.Encode(t, o)
		pod := &corev1.Pod{}
		client.Decode(t, text, pod)
		p.cluster.pods = append(p.cluster.pods, pod)
		p.cluster.decoded = append(p.cluster.decoded, podsecurity.ExistingPod{
			Name: name, Controller: controller, Decode: func() tree.Tree { return decode(t, text) },
		})
	}
}

func describe(lines, warnings []string) string {
	slices.Sort(lines)
	for _, w := range warnings {
		lines = append(lines, "warning "+w)
	}
	return strings.Join(lines, "\n")
}
