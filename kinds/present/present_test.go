package present

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

var now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func object(rest string) *meta.Object {
	const head = `{"kind":"Pod","apiVersion":"v1",`
	return &meta.Object{JSON: []byte(head + `"metadata":{"name":"x","labels":{"a":"}\"{"},"creationTimestamp":"2026-11-21T11:55:00Z"}` + rest + "}"), ItemOffset: len(head)}
}

func rowOf(o *meta.Object) *row {
	t := TableWriter{naming: meta.Kubernetes, options: TableOptions{Now: now}}
	return t.open(o)
}

func TestPartial(t *testing.T) {
	got := string(AppendPartial(nil, meta.Kubernetes, "v1", object(`,"data":{"a":"1"}`)))
	want := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"x","labels":{"a":"}\"{"},"creationTimestamp":"2026-11-21T11:55:00Z"}}`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCells(t *testing.T) {
	for _, c := range []struct{ rest, path, kind, want string }{
		{``, "metadata.name", "string", `"x"`},
		{``, "func:age", "string", `"5m"`},
		{``, "metadata.creationTimestamp", "date", `"5m"`},
		{``, "func:createdAt", "date", `"2026-11-21T11:55:00Z"`},
		{`,"data":{"a":"1"},"binaryData":{"b":""}`, "func:dataCount", "string", "2"},
		{``, "status.phase", "string", `"\u003cnone\u003e"`},
		{``, "status.replicas|0", "string", "0"},
		{``, "status.replicas", "integer", "null"},
		{`,"secrets":[{"name":"a"},{"name":"b"}]`, "func:join:secrets", "string", `"a,b"`},
		{`,"spec":{"selector":{"matchLabels":{"a":"b"}}}`, "func:selector", "string", `"a=b"`},
		{`,"lastTimestamp":"2026-11-21T11:59:00Z"`, "func:eventLastSeen", "string", `"60s"`},
		{`,"involvedObject":{"kind":"Pod","name":"p"}`, "func:eventObject", "string", `"pod/p"`},
		{`,"spec":{"containers":[{"name":"c"}]},"status":{"phase":"Pending"}`, "func:podReady", "string", `"0/1"`},
		{`,"status":{"phase":"Running","containerStatuses":[{"ready":true,"restartCount":2,"state":{"running":{}},"lastState":{"terminated":{"finishedAt":"2026-11-21T11:50:00Z"}}}]}`, "func:podRestarts", "string", `"2 (10m ago)"`},
		{`,"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}]}`, "func:podStatus", "string", `"ErrImagePull"`},
		{`,"spec":{"initContainers":[{"name":"i"}]},"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"running":{}}}]}`, "func:podStatus", "string", `"Init:0/1"`},
	} {
		o := object(c.rest)
		k := cellOf(&schema.Column{Path: c.path, Type: c.kind})
		if got := string(k.append(nil, rowOf(o))); got != c.want {
			t.Errorf("%s of %s = %s, want %s", c.path, c.rest, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	w := NewTableWriter(meta.Kubernetes, &schema.Kind{}, TableOptions{IncludeObject: IncludeNone})
	const head, row = `{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"7"},"columnDefinitions":`, `,"rows":[{"cells":["x","2026-11-21T11:55:00Z"],"object":null}]}`
	for i, columns := range []string{string(appendHeaders(nil, defaultColumns)), "null", "null"} {
		got := string(w.Next(nil, object(""), ListMeta{ResourceVersion: "7"}, now))
		if want := head + columns + row; got != want {
			t.Errorf("table %d: got %s, want %s", i, got, want)
		}
		if w.row.object != nil || w.row.json.Text() != nil {
			t.Error("the object is held")
		}
	}
}

func TestHumanDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 119 * time.Second: "119s", 5 * time.Minute: "5m", 150 * time.Second: "2m30s", 76 * time.Hour: "3d4h", -5 * time.Second: "<invalid>", 9 * 24 * time.Hour: "9d",
	} {
		if got := humanDuration(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestDiscovery(t *testing.T) {
	kinds := []*schema.Kind{
		{GroupVersionKind: meta.GroupVersionKind{Version: "v1", Kind: "Pod"}, Resource: "pods", Names: schema.Names{Singular: "pod"}, Namespaced: true, Verbs: []string{"list", "get"}},
		{GroupVersionKind: meta.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Resource: "deployments", Names: schema.Names{Singular: "deployment", Short: []string{"deploy"}}, Namespaced: true, Verbs: []string{"get"},
			Subresources: []schema.Subresource{{Name: "status", Verbs: []string{"get"}}, {Name: "scale", Kind: meta.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: []string{"get"}}}},
		{GroupVersionKind: meta.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "Widget"}, Resource: "widgets", Names: schema.Names{Singular: "widget"}, Origin: &schema.Origin{Definition: "widgets.e.com"}, Verbs: []string{"delete", "list", "patch", "create", "update", "watch"},
			Subresources: []schema.Subresource{{Name: "status", Verbs: []string{"get"}}, {Name: "scale", Kind: meta.GroupVersionKind{Group: "autoscaling", Version: "v1", Kind: "Scale"}, Verbs: []string{"get"}}}},
	}
	d := NewDiscovery(meta.Kubernetes, "192.0.2.1:6443", kinds)
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

// TestGroupOrder checks that groups of equal priority are ordered by name, except in the list of
// groups, where the names of their APIServices count.
func TestGroupOrder(t *testing.T) {
	var kinds []*schema.Kind
	for _, gv := range []GroupVersion{{"c.example.com", "v1"}, {"c.example.com", "v1beta1"}, {"a.example.com", "v1beta1"}, {"b.example.com", "v2"}, {"batch", "v1"}} {
		kinds = append(kinds, &schema.Kind{GroupVersionKind: meta.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: "X"}, Resource: "xs"})
	}
	d := NewDiscovery(meta.Platform, "", kinds)
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
