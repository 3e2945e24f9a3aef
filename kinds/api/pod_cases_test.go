package api_test

import (
	"testing"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// container returns the containers field of a Pod: one container with further fields, as JSON.
func container(fields string) string { return `"containers":[{"name":"c","image":"i",` + fields + `}]` }

// writeSubresource writes a subresource of a Pod and returns the Pod, and the faults or the error.
func writeSubresource(t *testing.T, k *schema.Kind, sub string, old tree.Tree, body string) (tree.Tree, []string) {
	t.Helper()
	obj := tree.Clone(old).(tree.Tree)
	var faults schema.Faults
	if err := k.Subresource(sub).View.Write(obj, Parse(t, body), "2026-01-02T00:00:00Z", &faults); err != nil {
		return obj, []string{err.Error()}
	}
	rules.Default(k, obj)
	return obj, Lines(append(faults.List, rules.Validate(k, obj)...))
}

func createdPod(t *testing.T, k *schema.Kind, spec string) tree.Tree {
	t.Helper()
	obj := newPod(t, k, spec)
	Expect(t, spec, Create(k, obj), nil)
	return obj
}

// newPod builds a Pod from JSON fields of its spec, without braces, with one container by default.
func newPod(t *testing.T, k *schema.Kind, spec string) tree.Tree {
	t.Helper()
	obj := Named(k, Parse(t, `{"spec":{`+spec+`}}`))
	s := obj.Object("spec")
	if s["containers"] == nil {
		s["containers"] = []any{tree.Tree{"name": "c", "image": "i"}}
	}
	return obj
}

// A podCase is the spec of a Pod, as JSON fields without braces, and its faults on create.
type podCase struct {
	spec string
	want []string
}

func runPodCases(t *testing.T, cases []podCase) {
	t.Helper()
	k := CoreKind(t, meta.Platform, "Pod")
	for _, c := range cases {
		Expect(t, c.spec, Create(k, newPod(t, k, c.spec)), c.want)
	}
}
