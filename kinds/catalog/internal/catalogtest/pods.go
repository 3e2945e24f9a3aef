package catalogtest

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Container is a Pod's spec of one container with further fields.
func Container(fields string) string { return `"containers":[{"name":"c","image":"i",` + fields + `}]` }

// WriteSubresource runs what a write of a sub-resource of a Pod runs. It gives the Pod, and the
// faults or the refusal.
func WriteSubresource(t *testing.T, k *schema.Kind, sub string, old tree.Tree, body string) (tree.Tree, []string) {
	t.Helper()
	obj := tree.Clone(old).(tree.Tree)
	var faults schema.Faults
	if err := k.Subresource(sub).View.Write(obj, Parse(t, body), "2026-01-02T00:00:00Z", &faults); err != nil {
		return obj, []string{err.Error()}
	}
	rules.Default(k, obj)
	return obj, Lines(append(faults.List, rules.Validate(k, obj)...))
}

// CreatedPod is a Pod that has been created.
func CreatedPod(t *testing.T, k *schema.Kind, spec string) tree.Tree {
	t.Helper()
	obj := Pod(t, k, spec)
	Expect(t, spec, Create(k, obj), nil)
	return obj
}

// Pod makes a Pod with one container; spec is JSON of further fields, without braces.
func Pod(t *testing.T, k *schema.Kind, spec string) tree.Tree {
	t.Helper()
	obj := Named(k, Parse(t, `{"spec":{`+spec+`}}`))
	s := obj.Object("spec")
	if s["containers"] == nil {
		s["containers"] = []any{tree.Tree{"name": "c", "image": "i"}}
	}
	return obj
}

// A PodCase is the spec of a Pod, JSON of further fields without braces, and its faults.
type PodCase struct {
	Spec string
	Want []string
}

func RunPodCases(t *testing.T, cases []PodCase) {
	t.Helper()
	k := CoreKind(t, meta.Platform, "Pod")
	for _, c := range cases {
		Expect(t, c.Spec, Create(k, Pod(t, k, c.Spec)), c.Want)
	}
}
