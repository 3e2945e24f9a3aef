package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/troupe-api/troupe/test/client"
)

type object interface {
	runtime.Object
	metav1.Object
}

// resources is the interface common to all typed clients.
type resources[T object, L runtime.Object] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Update(context.Context, T, metav1.UpdateOptions) (T, error)
	Get(context.Context, string, metav1.GetOptions) (T, error)
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (watch.Interface, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// A kind is one case of TestTyped: a collection, an object to create, and a change to the object.
type kind interface {
	name() string
	lifecycle(t *testing.T, ns, media string)
}

type row[T object, L runtime.Object] struct {
	in     func(c kubernetes.Interface, ns string) resources[T, L]
	sample T
	change func(T)
}

func (r row[T, L]) name() string { return fmt.Sprintf("%T", r.sample)[1:] }

func of[T object, L runtime.Object](in func(kubernetes.Interface, string) resources[T, L], sample T, change func(T)) kind {
	return row[T, L]{in, sample, change}
}

// lifecycle creates, changes and deletes an object, and reads it in both media types after each
// step.
func (r row[T, L]) lifecycle(t *testing.T, ns, media string) {
	ctx, selected := t.Context(), metav1.ListOptions{LabelSelector: "test=" + ns}
	c, other := r.in(clientGoServer(t).Typed(t, media), ns), r.in(clientGoServer(t).Typed(t, asJSON), ns)
	if media == asJSON {
		other = r.in(clientGoServer(t).Typed(t, asProtobuf), ns)
	}
	same := func(label string, got T) {
		t.Helper()
		for media, c := range map[string]resources[T, L]{"same": c, "other": other} {
			if read := must1(c.Get(ctx, got.GetName(), metav1.GetOptions{}))(t); !equality.Semantic.DeepEqual(got, read) {
				t.Errorf("%s: response\n%s, read in the %s media type\n%s", label, show(got), media, show(read))
			}
		}
	}
	o := r.sample.DeepCopyObject().(T)
	o.SetGenerateName(ns + "-")
	o.SetLabels(map[string]string{"test": ns})
	created := must1(c.Create(ctx, o, metav1.CreateOptions{FieldManager: "creator"}))(t)
	o.SetCreationTimestamp(created.GetCreationTimestamp())
	o.SetGeneration(created.GetGeneration())
	if !equality.Semantic.DeepDerivative(o, created) {
		t.Errorf("sent\n%s, created\n%s", show(o), show(created))
	}
	same("created", created)
	name := created.GetName()

	watching := must1(c.Watch(ctx, metav1.ListOptions{LabelSelector: selected.LabelSelector, ResourceVersion: created.GetResourceVersion()}))(t)
	defer watching.Stop()
	changed := created.DeepCopyObject().(T)
	r.change(changed)
	updated := must1(c.Update(ctx, changed, metav1.UpdateOptions{}))(t)
	if updated.GetResourceVersion() == created.GetResourceVersion() {
		t.Error("the update changed nothing")
	}
	same("updated", updated)
	if _, err := c.Update(ctx, changed, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update of the old version: %v", err)
	}
	patched := must1(c.Patch(ctx, name, types.StrategicMergePatchType, []byte(`{"metadata":{"annotations":{"a":"b"}}}`), metav1.PatchOptions{}))(t)
	same("patched", patched)

	list := must1(c.List(ctx, selected))(t)
	items := must1(meta.ExtractList(list))(t)
	if len(items) != 1 || !equality.Semantic.DeepEqual(items[0], runtime.Object(patched)) {
		t.Errorf("listed\n%s, not\n%s", show(list), show(patched))
	}
	if err := c.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: metav1.NewUIDPreconditions("other")}); !apierrors.IsConflict(err) {
		t.Errorf("delete with another UID as precondition: %v", err)
	}
	background := metav1.DeletePropagationBackground // explicit, because some kinds orphan their dependents by default
	mustClientGo(t, c.Delete(ctx, name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64), PropagationPolicy: &background, Preconditions: metav1.NewUIDPreconditions(string(created.GetUID())),
	}))
	if _, err := c.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get after the deletion: %v", err)
	}
	expect(t, watching, event{watch.Modified, updated}, event{watch.Modified, patched}, event{kind: watch.Deleted})
}

// An event is an expected watch event. A nil object matches any object.
type event struct {
	kind   watch.EventType
	object runtime.Object
}

func expect(t *testing.T, w watch.Interface, wants ...event) {
	t.Helper()
	for i, want := range wants {
		got := next(t, w)
		if got.Type != want.kind || want.object != nil && !equality.Semantic.DeepEqual(got.Object, want.object) {
			t.Fatalf("event %d: %s\n%s, want %s\n%s", i, got.Type, show(got.Object), want.kind, show(want.object))
		}
	}
}

func next(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case e, open := <-w.ResultChan():
		if !open {
			t.Fatal("the watch has ended")
		}
		return e
	case <-time.After(client.Watchdog):
		t.Fatal("no watch event")
	}
	panic("unreachable")
}

func show(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
