package kinds_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/discovery"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

func TestDiscovery(t *testing.T) {
	kinds := []*schema.Kind{
		{GroupVersionKind: meta.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Names: schema.Names{Singular: "pod"}, Namespaced: true, Verbs: []string{"list", "get"}},
		{GroupVersionKind: meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments", Names: schema.Names{Singular: "deployment", Short: []string{"deploy"}}, Namespaced: true, Verbs: []string{"get"},
			Subresources: []schema.Subresource{{Name: "status", Verbs: []string{"get"}}, {Name: "scale", Kind: meta.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: []string{"get"}}}},
		{GroupVersionKind: meta.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "Widget"}, Resource: "widgets", Names: schema.Names{Singular: "widget"}, Origin: &schema.Origin{Definition: "widgets.e.com"}, Verbs: []string{"delete", "list", "patch", "create", "update", "watch"},
			Subresources: []schema.Subresource{{Name: "status", Verbs: []string{"get"}}, {Name: "scale", Kind: meta.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: []string{"get"}}}},
	}
	d := discovery.NewDiscovery(meta.Kubernetes, "192.0.2.1:6443", kinds)
	want := `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[{"name":"deployments","singularName":"deployment","namespaced":true,"kind":"Deployment","verbs":["get"],"shortNames":["deploy"]},{"name":"deployments/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1","kind":"Scale","verbs":["get"]},{"name":"deployments/status","singularName":"","namespaced":true,"kind":"Deployment","verbs":["get"]}]}`
	if got := string(d.Resources("apps", "v1")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	body, etag := d.Aggregated(true)
	want = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[{"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get","list"]}],"freshness":"Current"}]}]}`
	if string(body) != want || len(etag) != 130 || strings.ToUpper(etag) != etag {
		t.Errorf("got %s %s, want %s", body, etag, want)
	}
	body, _ = d.Aggregated(false)
	want = `[{"resource":"widgets","responseKind":{"group":"e.com","version":"v1","kind":"Widget"},"scope":"Cluster","singularResource":"widget","verbs":["delete","list","patch","create","update","watch"],"subresources":[{"subresource":"status","responseKind":{"group":"e.com","version":"v1","kind":"Widget"},"verbs":["get"]},{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},"verbs":["get"]}]}]`
	if !strings.Contains(string(body), want) {
		t.Errorf("got %s, want %s", body, want)
	}
	if d.Resources("apps", "v2") != nil || d.Group("") != nil {
		t.Error("documents of what is not served")
	}
}

// TestGroupOrder checks that aggregated discovery orders groups of equal priority by name, and the
// APIGroupList by the names of their APIServices.
func TestGroupOrder(t *testing.T) {
	var kinds []*schema.Kind
	for _, gv := range []meta.GroupVersionKind{{Group: "c.example.com", Version: "v1"}, {Group: "c.example.com", Version: "v1beta1"}, {Group: "a.example.com", Version: "v1beta1"}, {Group: "b.example.com", Version: "v2"}, {Group: "batch", Version: "v1"}} {
		kinds = append(kinds, &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: "X"}, Resource: "xs"})
	}
	d := discovery.NewDiscovery(meta.Platform, "", kinds)
	aggregated, _ := d.Aggregated(false)
	name := regexp.MustCompile(`"name":"([^"]+)"`)
	for text, want := range map[string]string{string(d.Groups()): "batch c.example.com a.example.com b.example.com", string(aggregated): "batch a.example.com b.example.com c.example.com"} {
		var got []string
		for _, found := range name.FindAllStringSubmatch(text, -1) {
			got = append(got, found[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}
