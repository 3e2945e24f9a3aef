package clients

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
)

// lines returns one line per resource, without the fields that client-go sets in only one of the
// discovery formats.
func lines(lists []*metav1.APIResourceList) (all []string) {
	for _, list := range lists {
		for _, r := range list.APIResources {
			slices.Sort(r.Verbs)
			slices.Sort(r.ShortNames)
			slices.Sort(r.Categories)
			r.Group, r.Version, r.StorageVersionHash = "", "", ""
			if strings.Contains(r.Name, "/") {
				r.SingularName = ""
			}
			all = append(all, fmt.Sprintf("%s %+v", list.GroupVersion, r))
		}
	}
	slices.Sort(all)
	return all
}

// TestDiscoveryInProtobuf checks that discovery documents in Protobuf equal those in JSON.
func TestDiscoveryInProtobuf(t *testing.T) {
	t.Parallel()
	client := must1(discovery.NewDiscoveryClientForConfig(clientGoServer(t).Config(t, asJSON)))(t).RESTClient()
	decoder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	for path, o := range map[string]func() runtime.Object{
		"/api":          func() runtime.Object { return &metav1.APIVersions{} },
		"/apis":         func() runtime.Object { return &metav1.APIGroupList{} },
		"/apis/apps":    func() runtime.Object { return &metav1.APIGroup{} },
		"/apis/apps/v1": func() runtime.Object { return &metav1.APIResourceList{} },
		"/api/v1":       func() runtime.Object { return &metav1.APIResourceList{} },
	} {
		want, got := o(), o()
		mustClientGo(t, json.Unmarshal(must1(client.Get().AbsPath(path).SetHeader("Accept", asJSON).DoRaw(t.Context()))(t), want))
		body := must1(client.Get().AbsPath(path).SetHeader("Accept", asProtobuf).DoRaw(t.Context()))(t)
		_, kind, err := decoder.Decode(body, nil, got)
		mustClientGo(t, err)
		got.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
		if !equality.Semantic.DeepEqual(got, want) || kind.Kind != want.GetObjectKind().GroupVersionKind().Kind {
			t.Errorf("%s: %v\ngot  %s\nwant %s", path, kind, show(got), show(want))
		}
	}
}

// TestDiscovery checks that aggregated and legacy discovery return the same groups and resources.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	var traffic Traffic
	aggregated := must1(discovery.NewDiscoveryClientForConfig(traffic.Of(clientGoServer(t).Config(t, asJSON))))(t)
	groups, resources, err := aggregated.ServerGroupsAndResources()
	mustClientGo(t, err)
	if asked := traffic.With(""); len(asked) != 2 {
		t.Errorf("requests of aggregated discovery: %v", asked)
	}
	legacyGroups, legacyResources, err := aggregated.WithLegacy().ServerGroupsAndResources()
	mustClientGo(t, err)
	a, b := lines(resources), lines(legacyResources)
	if len(a) < 60 || !slices.Equal(a, b) {
		for _, line := range slices.Concat(a, b) {
			if !slices.Contains(a, line) || !slices.Contains(b, line) {
				t.Errorf("aggregated %t, legacy %t: %s", slices.Contains(a, line), slices.Contains(b, line), line)
			}
		}
	}
	if x, y := show(groups), show(legacyGroups); x != y {
		t.Errorf("aggregated groups\n%s, legacy ones\n%s", x, y)
	}
	preferred := must1(aggregated.ServerPreferredResources())(t)
	if !slices.ContainsFunc(preferred, func(l *metav1.APIResourceList) bool { return l.GroupVersion == "autoscaling/v2" }) {
		t.Error("the preferred version of autoscaling is not v2")
	}
	version := must1(aggregated.ServerVersion())(t)
	if version.Major != "1" || version.Minor == "" {
		t.Errorf("%+v", version)
	}
}

// TestMapper checks that REST mappers resolve kinds and short names.
func TestMapper(t *testing.T) {
	t.Parallel()
	c := memory.NewMemCacheClient(clientGoServer(t).Typed(t, asJSON).Discovery())
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(c), c, func(string) {})
	for kind, want := range map[schema.GroupKind]string{
		{Kind: "Pod"}:                       "/v1, Resource=pods",
		{Group: "apps", Kind: "Deployment"}: "apps/v1, Resource=deployments",
		{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: "autoscaling/v2, Resource=horizontalpodautoscalers",
		{Group: "networking.k8s.io", Kind: "Ingress"}:           "networking.k8s.io/v1, Resource=ingresses",
		{Kind: "Endpoints"}: "/v1, Resource=endpoints",
	} {
		if m := must1(mapper.RESTMapping(kind))(t); m.Resource.String() != want {
			t.Errorf("%s is %s, want %s", kind, m.Resource, want)
		}
	}
	for short, want := range map[string]string{
		"po": "pods", "deploy": "deployments", "cm": "configmaps", "hpa": "horizontalpodautoscalers",
		"svc": "services", "pvc": "persistentvolumeclaims", "ns": "namespaces", "pdb": "poddisruptionbudgets",
	} {
		if r := must1(mapper.ResourceFor(schema.GroupVersionResource{Resource: short}))(t); r.Resource != want {
			t.Errorf("%s is %s, want %s", short, r, want)
		}
	}
}

// TestOpenAPI checks that client-go can read the OpenAPI v2 and v3 documents.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	c := must1(discovery.NewDiscoveryClientForConfig(clientGoServer(t).Config(t, asJSON)))(t)
	if doc := must1(c.OpenAPISchema())(t); len(doc.GetDefinitions().GetAdditionalProperties()) < 100 {
		t.Errorf("%d definitions", len(doc.GetDefinitions().GetAdditionalProperties()))
	}
	root := openapi3.NewRoot(c.OpenAPIV3())
	versions := must1(root.GroupVersions())(t)
	if !slices.Contains(versions, schema.GroupVersion{Group: "apps", Version: "v1"}) {
		t.Errorf("%v", versions)
	}
	doc := must1(root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"}))(t)
	if doc.Components.Schemas["io.k8s.api.apps.v1.Deployment"] == nil {
		t.Error("no Deployment")
	}
}
