package api

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	autoscaling "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/troupe-api/troupe/kinds/tree"
)

// scaleOracle returns an oracle that writes scales as kube-apiserver does. It converts managers of
// the object's replicas to managers of the scale, and back. A deduced type is enough, because
// clients write only a number.

func scaleOracle(t *testing.T) *managedfields.FieldManager {
	t.Helper()
	gvk := autoscaling.SchemeGroupVersion.WithKind("Scale")
	oracle, err := managedfields.NewDefaultFieldManager(managedfields.NewDeducedTypeConverter(), scheme.Scheme, scheme.Scheme, scheme.Scheme, gvk, gvk.GroupVersion(), "scale", nil)
	if err != nil {
		t.Fatal(err)
	}
	return oracle
}

// scale returns the oracle's object after a write to its scale subresource.
func (s *ownershipComparison) scale(w ownershipEndpoint, write func(live runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	s.t.Helper()
	whole, _ := s.tree(s.kind, s.live())
	handler := managedfields.NewScaleHandler(s.expected.(metav1.Object).GetManagedFields(), gvkOf(w.kind).GroupVersion(),
		managedfields.ResourcePathMappings{w.kind.APIVersion(): fieldpath.MakePathOrDie("spec", "replicas")})
	shown, err := handler.ToSubresource()
	if err != nil {
		s.t.Fatal(err)
	}
	live := &autoscaling.Scale{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", ManagedFields: shown}}
	live.Spec.Replicas = int32(replicasOf(whole))
	live.SetGroupVersionKind(autoscaling.SchemeGroupVersion.WithKind("Scale"))
	written, err := write(live)
	if err != nil {
		return nil, err
	}
	scale := written.(*autoscaling.Scale)
	held, err := handler.ToParent(scale.ManagedFields)
	if err != nil {
		s.t.Fatal(err)
	}
	theirs := s.object(s.kind, withReplicas(whole, int64(scale.Spec.Replicas)))
	theirs.(metav1.Object).SetManagedFields(joined(s.t, held))
	theirs.(metav1.Object).SetUID("u")
	return theirs, nil
}

// joined merges entries of the same manager, because Kubernetes may return two. When Kubernetes
// converts an update's entry from the Scale back to the object, the entry keeps the Scale's
// version. A later update then adds a second entry.
func joined(t *testing.T, entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	t.Helper()
	var out []metav1.ManagedFieldsEntry
	for _, e := range entries {
		i := slices.IndexFunc(out, func(o metav1.ManagedFieldsEntry) bool {
			return o.Manager == e.Manager && o.Operation == e.Operation && o.APIVersion == e.APIVersion && o.Subresource == e.Subresource
		})
		if i < 0 {
			out = append(out, e)
			continue
		}
		both, more := &fieldpath.Set{}, &fieldpath.Set{}
		if err := errors.Join(both.FromJSON(bytes.NewReader(out[i].FieldsV1.Raw)), more.FromJSON(bytes.NewReader(e.FieldsV1.Raw))); err != nil {
			t.Fatal(err)
		}
		raw, err := both.Union(more).ToJSON()
		if err != nil {
			t.Fatal(err)
		}
		out[i].FieldsV1 = &metav1.FieldsV1{Raw: raw}
	}
	return out
}

func scaleOf(live runtime.Object, replicas int64) runtime.Object {
	next := live.DeepCopyObject().(*autoscaling.Scale)
	next.Spec.Replicas = int32(replicas)
	return next
}

func scaleConfig(config tree.Tree) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": "a"},
		"spec": map[string]any{"replicas": replicasOf(config)},
	}}
}

func replicasOf(t tree.Tree) int64 {
	n, _ := t.Object("spec").Int("replicas")
	return n
}

func withReplicas(t tree.Tree, n int64) tree.Tree {
	out := tree.Clone(t).(tree.Tree)
	out.EnsureObject("spec")["replicas"] = n
	return out
}
