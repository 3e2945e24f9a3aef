package catalog_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func TestKinds(t *testing.T) {
	c := newCatalog(t, meta.Platform)
	tests := []struct {
		group, resource, kind string
		verbs                 int
		namespaced            bool
		subresources          []string
		format                schema.NameFormat
	}{
		{"", "bindings", "Binding", 1, true, nil, schema.NameSubdomain},
		{"", "configmaps", "ConfigMap", 8, true, nil, schema.NameSubdomain},
		{"", "events", "Event", 8, true, nil, schema.NamePathSegment},
		{"", "namespaces", "Namespace", 7, false, []string{"finalize", "status"}, schema.NameLabel},
		{"", "pods", "Pod", 8, true, []string{"attach", "binding", "ephemeralcontainers", "eviction", "exec", "log", "portforward", "proxy", "resize", "status"}, schema.NameSubdomain},
		{"", "secrets", "Secret", 8, true, nil, schema.NameSubdomain},
		{"", "services", "Service", 8, true, []string{"proxy", "status"}, schema.NameLabel},
		{"apps", "deployments", "Deployment", 8, true, []string{"scale", "status"}, schema.NameSubdomain},
		{"rbac.authorization.platform.io", "clusterroles", "ClusterRole", 8, false, nil, schema.NamePathSegment},
	}
	for _, test := range tests {
		k := c.Kind(test.group, "v1", test.resource)
		if k == nil {
			t.Fatalf("no kind for %s", test.resource)
		}
		if k.Kind != test.kind || k.Namespaced != test.namespaced || k.NameFormat != test.format || len(k.Verbs) != test.verbs {
			t.Errorf("%s: %+v", test.resource, k)
		}
		var names []string
		for _, s := range k.Subresources {
			names = append(names, s.Name)
		}
		if !slices.Equal(names, test.subresources) {
			t.Errorf("%s: sub-resources %v, want %v", test.resource, names, test.subresources)
		}
		if want := len(`{"kind":"` + test.kind + `","apiVersion":"` + k.APIVersion() + `",`); k.ItemOffset() != want {
			t.Errorf("%s: Item = %d, want %d", test.resource, k.ItemOffset(), want)
		}
	}
	if k := c.Kind("", "v2", "pods"); k != nil {
		t.Errorf("found %v", k)
	}
}

func TestEveryKindIsFound(t *testing.T) {
	c := newCatalog(t, meta.Kubernetes)
	for _, k := range c.Kinds() {
		if c.Kind(k.Group, k.Version, k.Resource) != k || c.ByGVK(k.GroupVersionKind) != k {
			t.Errorf("%s is found in one way and not in another", k.Resource)
		}
		if k.Message().Doc == "" {
			t.Errorf("%s has no description", k.Kind)
		}
		if strings.Contains(k.Group, "platform") {
			t.Errorf("%s is in %s", k.Kind, k.Group)
		}
	}
	if len(c.Kinds()) < 60 {
		t.Errorf("only %d kinds", len(c.Kinds()))
	}
}

func TestGroups(t *testing.T) {
	groups := newCatalog(t, meta.Kubernetes).Groups()
	want := []catalog.Group{{Name: "", Versions: []string{"v1"}}, {Name: "admissionregistration.k8s.io", Versions: []string{"v1"}}}
	if len(groups) < 19 || !reflect.DeepEqual(groups[:2], want) {
		t.Errorf("groups %v, want %v and more", groups, want)
	}
}

func TestStored(t *testing.T) {
	stored := newCatalog(t, meta.Kubernetes).StorageKinds()
	for i, k := range stored {
		if k.Virtual() || k.Resource == "" {
			t.Errorf("%s is not stored", k.Kind)
		}
		if i > 0 && stored[i-1].Storage == k.Storage {
			t.Errorf("%s is there twice", k.Storage)
		}
	}
	if len(stored) < 50 || stored[0].Kind != "ConfigMap" {
		t.Errorf("%d are stored", len(stored))
	}
}

func TestPlan(t *testing.T) {
	pod := newCatalog(t, meta.Platform).Kind("", "v1", "pods").Message()
	fields := map[string]func(f *schema.Field) bool{
		"metadata":           func(f *schema.Field) bool { return f.EmitEmpty && f.WireEmitEmpty },
		"spec.restartPolicy": func(f *schema.Field) bool { return f.Default == "Always" && len(f.Enum) == 3 },
		"spec.hostNetwork":   func(f *schema.Field) bool { return !f.EmitEmpty && f.WireEmitEmpty },
		"spec.containers": func(f *schema.Field) bool {
			return f.EmitEmpty && !f.WireEmitEmpty && f.Required && f.MergeKey == "name"
		},
		"spec.securityContext":               func(f *schema.Field) bool { return f.Pointer && reflect.DeepEqual(f.Default, tree.Tree{}) },
		"spec.terminationGracePeriodSeconds": func(f *schema.Field) bool { return f.Default == int64(30) && f.Min == nil },
		"spec.activeDeadlineSeconds":         func(f *schema.Field) bool { return *f.Min == 1 },
		"spec.nodeSelector":                  func(f *schema.Field) bool { return f.Shape == schema.Map && f.MapAtomic },
		"metadata.creationTimestamp":         func(f *schema.Field) bool { return f.Type == schema.TypeTime && !f.EmitEmpty && f.WireEmitEmpty },
	}
	for path, ok := range fields {
		if f := pod.Lookup(path); f == nil || !ok(f) {
			t.Errorf("%s: %+v", path, f)
		}
	}
	hostPath := pod.Lookup("spec.volumes").Message.Field("hostPath")
	if hostPath == nil || !slices.Equal(hostPath.Wire, []int32{2, 1}) {
		t.Errorf("hostPath of a volume: %+v", hostPath)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newCatalog(b, meta.Kubernetes)
	}
}

func newCatalog(t testing.TB, n *meta.Naming) *catalog.Catalog {
	t.Helper()
	c, err := catalog.New(n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
