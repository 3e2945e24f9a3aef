package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/component-base/metrics"
	"k8s.io/pod-security-admission/admission"
	"k8s.io/pod-security-admission/admission/api/load"
	"k8s.io/pod-security-admission/api"
	psametrics "k8s.io/pod-security-admission/metrics"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/policy/admission/podsecurity"
	"github.com/troupe-api/troupe/test/client"
)

// configurations lists configurations of the admission plugin, starting with the default.
var configurations = []string{"", `
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline, enforce-version: v1.20, audit: restricted, warn: restricted, warn-version: v1.30}
exemptions: {usernames: [exempt], namespaces: [exempt], runtimeClasses: [exempt]}
`, `
apiVersion: pod-security.admission.config.k8s.io/v1beta1
kind: PodSecurityConfiguration
exemptions: {namespaces: [exempt]}
`}

// A podSecurityCluster contains the objects that both implementations look up.
type podSecurityCluster struct {
	namespace *corev1.Namespace // nil for none
	labels    map[string]string
	pods      []*corev1.Pod
	decoded   []podsecurity.ExistingPod
}

func (c *podSecurityCluster) GetNamespace(_ context.Context, name string) (*corev1.Namespace, error) {
	if c.namespace == nil {
		return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
	}
	return c.namespace, nil
}

func (c *podSecurityCluster) ListPods(context.Context, string) ([]*corev1.Pod, error) {
	return slices.Clone(c.pods), nil
}

func (c *podSecurityCluster) GetMeta(meta.GroupResource, string, string) (meta.ObjectMeta, bool) {
	return meta.ObjectMeta{Labels: meta.NewLabels(c.labels)}, c.namespace != nil
}

func (c *podSecurityCluster) Pods(string) []podsecurity.ExistingPod { return c.decoded }

// A pair contains the admission plugins of k8s.io/pod-security-admission and Troupe, configured
// identically.
type pair struct {
	cluster  podSecurityCluster
	public   admission.Admission
	registry metrics.KubeRegistry
	own      *podsecurity.Admission
}

func newPair(t testing.TB, configuration string) *pair {
	t.Helper()
	o, p := newOracle(t), &pair{registry: metrics.NewKubeRegistry()}
	public, err := load.LoadFromData([]byte(configuration))
	if err != nil {
		t.Fatal(err)
	}
	recorder := psametrics.NewPrometheusRecorder(api.MajorMinorVersion(1, 35))
	recorder.MustRegister(p.registry.MustRegister)
	p.public = admission.Admission{
		Configuration: public, Evaluator: o.public, Metrics: recorder, NamespaceGetter: &p.cluster, PodLister: &p.cluster,
	}
	if err := p.public.CompleteConfiguration(); err != nil {
		t.Fatal(err)
	}
	if err := p.public.ValidateConfiguration(); err != nil {
		t.Fatal(err)
	}
	var own tree.Tree
	if configuration != "" {
		kinds, err := catalog.New(meta.Kubernetes)
		if err == nil {
			own, err = kinds.DecodeConfig("PodSecurity", []byte(configuration))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p.own = podsecurity.New(podsecurity.NewConfiguration(own), meta.Kubernetes, &p.cluster)
	return p
}

// decidePublic formats the decision of the reference implementation.
func (p *pair) decidePublic(t *testing.T, resource int, user, namespace, subresource string, old, wanted object) string {
	t.Helper()
	r := resources[resource]
	a := &api.AttributesRecord{
		Name: wanted["metadata"].(object)["name"].(string), Namespace: namespace, Username: user, Subresource: subresource,
		Kind:     schema.GroupVersionKind{Group: r.group, Version: "v1", Kind: r.kind},
		Resource: schema.GroupVersionResource{Group: r.group, Version: "v1", Resource: r.resource}, Operation: admissionv1.Create,
	}
	typed := func(o object) runtime.Object {
		text := client.Encode(t, o)
		made := r.make()
		client.Decode(t, text, made)
		return made
	}
	a.Object = typed(wanted)
	if old != nil {
		a.Operation, a.OldObject = admissionv1.Update, typed(old)
	}
	answer := p.public.Validate(t.Context(), a)
	var lines []string
	if !answer.Allowed {
		lines = append(lines, fmt.Sprintf("%d %s", answer.Result.Code, answer.Result.Message))
	}
	for key, value := range answer.AuditAnnotations {
		lines = append(lines, "annotation "+api.AuditAnnotationPrefix+key+"="+value)
	}
	return describe(lines, answer.Warnings)
}

// decideOwn formats Troupe's decision in the same way as decidePublic.
func (p *pair) decideOwn(t *testing.T, resource int, user, namespace, subresource string, old, wanted object) string {
	t.Helper()
	r := resources[resource]
	q := podsecurity.Request{
		User: user, Namespace: namespace, Subresource: subresource,
		Resource: meta.GroupResource{Group: r.group, Resource: r.resource},
	}
	decoded := func(o object) tree.Tree {
		text := client.Encode(t, o)
		return decode(t, text)
	}
	q.New = decoded(wanted)
	if old != nil {
		q.Old = decoded(old)
	}
	d := p.own.Decide(q)
	name := q.New.Object("metadata").String("name")
	var lines []string
	switch {
	case d.Failure != nil:
		lines = append(lines, fmt.Sprintf("%d %s", d.Failure.Code, d.Failure.Message))
	case len(d.Faults) > 0:
		s := meta.NewInvalid(meta.GroupKind{Group: r.group, Kind: r.kind}, name, d.Faults)
		lines = append(lines, fmt.Sprintf("%d %s", s.Code, s.Message))
	case d.Forbidden != "":
		s := meta.NewForbidden(q.Resource, name, d.Forbidden)
		lines = append(lines, fmt.Sprintf("%d %s", s.Code, s.Message))
	case r.resource == "namespaces":
		if lv, raised := p.own.StricterEnforcement(q); raised {
			d.Warnings = append(d.Warnings, p.own.CheckPods(t.Context(), namespace, lv)...)
		}
	}
	for _, a := range d.Annotations {
		lines = append(lines, "annotation "+a.Key+"="+a.Value)
	}
	return describe(lines, d.Warnings)
}

// publicMetrics formats the nonzero counters of the reference implementation as sorted lines.
func (p *pair) publicMetrics(t *testing.T) string {
	t.Helper()
	families, err := p.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			if n := m.GetCounter().GetValue(); n > 0 {
				lines = append(lines, fmt.Sprintf("%s{%s} %d", f.GetName(), strings.Join(labels, ","), int(n)))
			}
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (p *pair) ownMetrics() string {
	var text strings.Builder
	p.own.WriteMetrics(&text)
	lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(text.String()), "\n"), func(line string) bool {
		return strings.HasPrefix(line, "#")
	})
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
