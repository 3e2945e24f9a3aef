package clients

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
)

var deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}

func tree(apiVersion, kind, name string, fields map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	for name, v := range fields {
		o.Object[name] = v
	}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetName(name)
	return o
}

func atClientGo(t *testing.T, o *unstructured.Unstructured, path ...string) string {
	t.Helper()
	text, _, err := unstructured.NestedString(o.Object, path...)
	mustClientGo(t, err)
	return text
}

func TestDynamic(t *testing.T) {
	t.Parallel()
	ns := clientGoServer(t).Namespace(t)
	maps := must1(dynamic.NewForConfig(clientGoServer(t).Config(t, asJSON)))(t).Resource(configMaps).Namespace(ns)
	o := must1(maps.Create(t.Context(), tree("v1", "ConfigMap", "a", map[string]any{"data": map[string]any{"x": "1"}}), metav1.CreateOptions{}))(t)
	w := must1(maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: o.GetResourceVersion()}))(t)
	defer w.Stop()
	mustClientGo(t, unstructured.SetNestedField(o.Object, "2", "data", "x"))
	updated := must1(maps.Update(t.Context(), o, metav1.UpdateOptions{}))(t)
	if _, err := maps.Update(t.Context(), o, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of the old version: %v", err)
	}
	var patched *unstructured.Unstructured
	for kind, patch := range map[types.PatchType]string{
		types.JSONPatchType:           `[{"op":"replace","path":"/data/x","value":"3"}]`,
		types.MergePatchType:          `{"data":{"x":"3"}}`,
		types.StrategicMergePatchType: `{"data":{"x":"3"}}`,
	} {
		patched = must1(maps.Patch(t.Context(), "a", kind, []byte(patch), metav1.PatchOptions{}))(t)
		if atClientGo(t, patched, "data", "x") != "3" {
			t.Errorf("%s: %s", kind, show(patched))
		}
	}
	list := must1(maps.List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=a"}))(t)
	if len(list.Items) != 1 || list.GetKind() != "ConfigMapList" || list.Items[0].GetKind() != "ConfigMap" {
		t.Errorf("%s", show(list))
	}
	mustClientGo(t, maps.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	expect(t, w, event{watch.Modified, updated}, event{watch.Modified, patched}, event{kind: watch.Deleted})
}

// TestDynamicApply checks that two field managers conflict over a field, and that a field is
// deleted when its manager no longer applies it.
func TestDynamicApply(t *testing.T) {
	t.Parallel()
	ns := clientGoServer(t).Namespace(t)
	c := must1(dynamic.NewForConfig(clientGoServer(t).Config(t, asJSON)))(t)
	maps := c.Resource(configMaps).Namespace(ns)
	apply := func(manager string, force bool, data map[string]any) (*unstructured.Unstructured, error) {
		return maps.Apply(t.Context(), "a", tree("v1", "ConfigMap", "a", map[string]any{"data": data}), metav1.ApplyOptions{FieldManager: manager, Force: force})
	}
	first := must1(apply("one", false, map[string]any{"x": "1", "y": "1"}))(t)
	again := must1(apply("one", false, map[string]any{"x": "1", "y": "1"}))(t)
	if first.GetResourceVersion() != again.GetResourceVersion() {
		t.Error("applying the same configuration again changed the object")
	}
	if _, err := apply("two", false, map[string]any{"x": "2"}); !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		t.Errorf("apply by another manager without force: %v", err)
	}
	must1(apply("two", true, map[string]any{"x": "2"}))(t)
	o := must1(apply("one", false, map[string]any{}))(t)
	if atClientGo(t, o, "data", "x") != "2" || atClientGo(t, o, "data", "y") != "" {
		t.Errorf("after manager one removed its fields: %s", show(o))
	}
	must1(c.Resource(deployments).Namespace(ns).Apply(t.Context(), "d", tree("apps/v1", "Deployment", "d", map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": map[string]any{"app": "a"}},
		"template": map[string]any{
			"metadata": map[string]any{"labels": map[string]any{"app": "a"}},
			"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "i"}}},
		},
	}}), metav1.ApplyOptions{FieldManager: "one"}))(t)
	status := tree("apps/v1", "Deployment", "d", map[string]any{"status": map[string]any{"replicas": int64(1)}})
	d := must1(c.Resource(deployments).Namespace(ns).ApplyStatus(t.Context(), "d", status, metav1.ApplyOptions{FieldManager: "controller"}))(t)
	if n, _, _ := unstructured.NestedInt64(d.Object, "status", "replicas"); n != 1 {
		t.Errorf("%s", show(d))
	}
	fields := d.GetManagedFields()
	if len(fields) != 2 || fields[1].Subresource != "status" && fields[0].Subresource != "status" {
		t.Errorf("managed fields: %s", show(fields))
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	for encoding, media := range encodings {
		t.Run(encoding, func(t *testing.T) {
			ns := clientGoServer(t).Namespace(t)
			must1(clientGoServer(t).Typed(t, asJSON).CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("a"), Data: map[string]string{"x": "y"}}, metav1.CreateOptions{}))(t)
			maps := must1(metadata.NewForConfig(clientGoServer(t).Config(t, media)))(t).Resource(configMaps).Namespace(ns)
			o := must1(maps.Get(t.Context(), "a", metav1.GetOptions{}))(t)
			if o.Name != "a" || o.UID == "" {
				t.Errorf("%s", show(o))
			}
			w := must1(maps.Watch(t.Context(), metav1.ListOptions{ResourceVersion: o.ResourceVersion}))(t)
			defer w.Stop()
			patched := must1(maps.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"app":"a"}}}`), metav1.PatchOptions{}))(t)
			if patched.Labels["app"] != "a" {
				t.Errorf("%s", show(patched))
			}
			list := must1(maps.List(t.Context(), metav1.ListOptions{LabelSelector: "app=a"}))(t)
			if len(list.Items) != 1 || list.ResourceVersion == "" || list.Items[0].ResourceVersion != patched.ResourceVersion {
				t.Errorf("%s", show(list))
			}
			mustClientGo(t, maps.Delete(t.Context(), "a", metav1.DeleteOptions{}))
			expect(t, w, event{watch.Modified, patched}, event{kind: watch.Deleted})
		})
	}
}

// TestTable checks that lists in the Table format respect includeObject.
func TestTable(t *testing.T) {
	t.Parallel()
	ns, c := clientGoServer(t).Namespace(t), clientGoServer(t).Typed(t, asJSON)
	must1(c.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{ObjectMeta: named("a"), Spec: podSpec}, metav1.CreateOptions{}))(t)
	for _, include := range []metav1.IncludeObjectPolicy{metav1.IncludeNone, metav1.IncludeMetadata, metav1.IncludeObject} {
		var table metav1.Table
		mustClientGo(t, c.CoreV1().RESTClient().Get().Namespace(ns).Resource("pods").
			Param("includeObject", string(include)).
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Into(&table))
		if len(table.Rows) != 1 || len(table.ColumnDefinitions) != len(table.Rows[0].Cells) || table.Rows[0].Cells[0] != "a" {
			t.Errorf("%s: %s", include, show(table))
		}
		if raw := string(table.Rows[0].Object.Raw); (raw == "" || raw == "null") != (include == metav1.IncludeNone) {
			t.Errorf("%s: the object is %s", include, raw)
		}
	}
}
