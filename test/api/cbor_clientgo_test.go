package api

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

type wire struct {
	http.RoundTripper
	mu    sync.Mutex
	types []string // content types of requests and responses
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := w.RoundTripper.RoundTrip(r)
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := r.Header.Get("Content-Type"); t != "" {
		w.types = append(w.types, t)
	}
	if err == nil {
		w.types = append(w.types, answer.Header.Get("Content-Type"))
	}
	return answer, err
}

func (w *wire) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Compact(slices.Sorted(slices.Values(w.types)))
}

func (s server) config() (*rest.Config, *wire) {
	w := &wire{RoundTripper: &http.Transport{TLSClientConfig: s.TLS, DisableKeepAlives: true}}
	return &rest.Config{
		Host: s.URL, Transport: w, QPS: 1000, Burst: 1000,
		ContentConfig: rest.ContentConfig{ContentType: cborCborType, AcceptContentTypes: cborCborType + "," + cborJsonType},
	}, w
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func nextCBOR(t *testing.T, w watch.Interface, want watch.EventType) metav1.Object {
	t.Helper()
	e, ok := <-w.ResultChan()
	if !ok || e.Type != want {
		t.Fatalf("%s %v, want %s", e.Type, e.Object, want)
	}
	return e.Object.(metav1.Object)
}

// TestDynamicClient checks all operations on built-in and custom resources with the dynamic client.
func TestDynamicClient(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	s.define()
	for resource, o := range map[schema.GroupVersionResource]cborObject{
		{Version: "v1", Resource: "configmaps"}:                         publicConfigMap("a", cborObject{"x": "1"}),
		{Group: "example.com", Version: "v1", Resource: "widgets"}:      {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": cborObject{"name": "a"}, "spec": cborObject{"x": "1", "n": int64(7), "f": 1.5, "l": []any{nil, true}}},
		{Group: "apps", Version: "v1", Resource: "controllerrevisions"}: {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": cborObject{"name": "a"}, "revision": int64(3), "data": cborObject{"any": []any{int64(1), 2.5, "x"}}},
	} {
		config, spoken := s.config()
		objects := must(dynamic.NewForConfig(config))(t).Resource(resource).Namespace("default")
		life(t, objects, o)
		if got := spoken.seen(); !slices.Equal(got, []string{"application/apply-patch+cbor", cborCborType, "application/cbor-seq", "application/merge-patch+json"}) {
			t.Errorf("%s: %v", resource.Resource, got)
		}
	}
}

func life(t *testing.T, objects dynamic.ResourceInterface, content cborObject) {
	t.Helper()
	ctx := t.Context()
	made := must(objects.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{}))(t)
	w := must(objects.Watch(ctx, metav1.ListOptions{ResourceVersion: made.GetResourceVersion()}))(t)
	defer w.Stop()
	got := must(objects.Get(ctx, "a", metav1.GetOptions{}))(t)
	list := must(objects.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a"}))(t)
	if len(list.Items) != 1 || list.Items[0].GetUID() != made.GetUID() || got.GetUID() != made.GetUID() || got.GetKind() != made.GetKind() {
		t.Fatalf("got %v, listed %v", got, list)
	}
	got.SetLabels(map[string]string{"a": "1"})
	updated := must(objects.Update(ctx, got, metav1.UpdateOptions{FieldValidation: "Strict"}))(t)
	if _, err := objects.Update(ctx, got, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update of the old version: %v", err)
	}
	must(objects.Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"2"}}}`), metav1.PatchOptions{}))(t)
	config := &unstructured.Unstructured{Object: cborObject{"apiVersion": made.GetAPIVersion(), "kind": made.GetKind()}}
	config.SetName("a")
	config.SetAnnotations(map[string]string{"b": "1"})
	applied := must(objects.Apply(ctx, "a", config, metav1.ApplyOptions{FieldManager: "m"}))(t)
	if applied.GetLabels()["a"] != "2" || applied.GetAnnotations()["b"] != "1" {
		t.Errorf("applied: %v", applied)
	}
	uid := made.GetUID()
	if err := objects.Delete(ctx, "a", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}}); err != nil {
		t.Fatal(err)
	}
	if _, err := objects.Get(ctx, "a", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a deleted object: %v", err)
	}
	if err := objects.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "none=none"}); err != nil {
		t.Error(err)
	}
	for i, version := range []string{updated.GetResourceVersion(), "", applied.GetResourceVersion()} {
		if e := nextCBOR(t, w, watch.Modified); version != "" && e.GetResourceVersion() != version {
			t.Errorf("event %d is version %s, want %s", i, e.GetResourceVersion(), version)
		}
	}
	if e := nextCBOR(t, w, watch.Deleted); e.GetAnnotations()["b"] != "1" {
		t.Errorf("deleted: %v", e)
	}
}

// TestTypedClient checks that bytes, times, quantities and numbers survive a round trip through a
// typed client.
func TestTypedClient(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, true)
	config, spoken := s.config()
	c := must(kubernetes.NewForConfig(config))(t)
	ctx := t.Context()
	secrets := c.CoreV1().Secrets("default")
	w := must(secrets.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=a"}))(t)
	defer w.Stop()
	data := map[string][]byte{"x": {0, 1, 255}, "": nil, "y": []byte("text")}
	delete(data, "")
	made := must(secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: data}, metav1.CreateOptions{}))(t)
	got := must(secrets.Get(ctx, "a", metav1.GetOptions{}))(t)
	if string(got.Data["x"]) != "\x00\x01\xff" || string(got.Data["y"]) != "text" || !got.CreationTimestamp.Equal(&made.CreationTimestamp) || got.CreationTimestamp.IsZero() {
		t.Errorf("%v", got)
	}
	if e := nextCBOR(t, w, watch.Added).(*corev1.Secret); string(e.Data["x"]) != "\x00\x01\xff" {
		t.Errorf("watched: %v", e)
	}
	applied := must(secrets.Apply(ctx, applycore.Secret("a", "default").WithData(map[string][]byte{"z": {254}}), metav1.ApplyOptions{FieldManager: "m"}))(t)
	if string(applied.Data["z"]) != "\xfe" || len(applied.Data) != 3 {
		t.Errorf("applied: %v", applied)
	}
	if err := c.RESTClient().Get().AbsPath("/api/v1/nodes/none").Do(ctx).Error(); !apierrors.IsNotFound(err) {
		t.Errorf("%v", err)
	}
	if got := spoken.seen(); !slices.Equal(got, []string{"application/apply-patch+cbor", cborCborType, "application/cbor-seq"}) {
		t.Errorf("%v", got)
	}
}

// TestFallback checks that a client that prefers CBOR falls back to JSON if the server does not
// support CBOR.
func TestFallback(t *testing.T) {
	t.Parallel()
	s := serveCBOR(t, false)
	config, _ := s.config()
	c := must(kubernetes.NewForConfig(config))(t)
	maps := c.CoreV1().ConfigMaps("default")
	_, err := maps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		t.Fatalf("the first request: %v", err)
	}
	must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}))(t)
	must(maps.Get(t.Context(), "a", metav1.GetOptions{}))(t)
}
