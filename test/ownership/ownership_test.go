package ownership

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/public"
)

// A side by side run of both implementations on one object.
type sides struct {
	t       *testing.T
	kind    *schema.Kind
	gvk     kschema.GroupVersionKind
	oracle  *managedfields.FieldManager
	theirs  runtime.Object // nil until the object exists
	ours    schema.Tree
	managed []any
}

var converter = applyconfigurations.NewTypeConverter(scheme.Scheme)

func newSides(t *testing.T, k *schema.Kind) *sides {
	t.Helper()
	gvk := kschema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
	oracle, err := managedfields.NewDefaultFieldManager(converter, scheme.Scheme, scheme.Scheme, scheme.Scheme, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &sides{t: t, kind: k, gvk: gvk, oracle: oracle}
}

func (s *sides) form(apiVersion string) (ownership.Form, bool) {
	return ownership.Form{Message: s.kind.Message}, apiVersion == s.kind.APIVersion()
}

// object is a tree as the public type.
func (s *sides) object(t schema.Tree) runtime.Object {
	s.t.Helper()
	o, err := scheme.Scheme.New(s.gvk)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(codec.EncodeJSON(s.kind, t).Unversioned(), o); err != nil {
		s.t.Fatal(err)
	}
	o.GetObjectKind().SetGroupVersionKind(s.gvk)
	return o
}

// tree is an object of the public type as a tree, and its managers.
func (s *sides) tree(o runtime.Object) (schema.Tree, []any) {
	s.t.Helper()
	o.GetObjectKind().SetGroupVersionKind(s.gvk)
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	t, faults, err := codec.DecodeJSON(s.kind.Message, text)
	if err != nil || len(faults) > 0 {
		s.t.Fatal(err, faults)
	}
	metadata := t["metadata"].(schema.Tree)
	managed, _ := metadata["managedFields"].([]any)
	delete(metadata, "managedFields")
	return t, managed
}

func (s *sides) writer(manager string) ownership.Writer {
	return ownership.Writer{Manager: manager, APIVersion: s.kind.APIVersion(), Now: "2030-01-01T00:00:00Z"}
}

func (s *sides) update(manager string, next schema.Tree) {
	s.t.Helper()
	live, err := scheme.Scheme.New(s.gvk)
	if s.theirs != nil {
		live, err = s.theirs.DeepCopyObject(), nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	live.GetObjectKind().SetGroupVersionKind(s.gvk)
	theirs := s.object(next)
	if s.theirs != nil {
		theirs.(metav1.Object).SetUID("u")
	}
	if s.theirs, err = s.oracle.Update(live, theirs, manager); err != nil {
		s.t.Fatal(err)
	}
	s.theirs.(metav1.Object).SetUID("u")
	s.managed = ownership.Update(s.writer(manager), s.form, s.ours, next, s.managed, false)
	s.ours = next
}

func (s *sides) apply(manager string, config schema.Tree, force bool) {
	s.t.Helper()
	var live runtime.Object
	if s.theirs != nil {
		live = s.theirs.DeepCopyObject()
	} else {
		live, _ = scheme.Scheme.New(s.gvk)
	}
	live.GetObjectKind().SetGroupVersionKind(s.gvk)
	patch := &unstructured.Unstructured{Object: plain(config).(map[string]any)}
	patch.SetGroupVersionKind(s.gvk)
	theirs, err := s.oracle.Apply(live, patch, manager, force)
	ours, managed, fault := ownership.Apply(s.writer(manager), s.form, s.ours, config, s.managed, force)
	if (err != nil) != (fault != nil) {
		s.t.Fatalf("apply %s of %s: the oracle says %v, we say %v", text(config), manager, err, fault)
	}
	if err != nil {
		if lines(err) != lines(fault) {
			s.t.Fatalf("apply of %s: the oracle says %v, we say %v", manager, err, fault)
		}
		return
	}
	theirs.(metav1.Object).SetUID("u")
	s.theirs, s.ours, s.managed = theirs, ours, managed
}

// lines are the lines of a message in order: the oracle's are not.
func lines(err error) string {
	all := strings.Split(err.Error(), "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// plain is a tree as the public unstructured form has it.
func plain(v any) any {
	switch v := v.(type) {
	case schema.Tree:
		out := map[string]any{}
		for key, e := range v {
			out[key] = plain(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plain(e)
		}
		return out
	}
	return v
}

func text(t schema.Tree) string { return string(codec.AppendAny(nil, t)) }

// owners are managers without their times, sorted.
func owners(managed []any) []string {
	var out []string
	for _, v := range managed {
		entry := v.(schema.Tree)
		set, err := ownership.Parse(entry["fieldsV1"].(string))
		if err != nil {
			panic(err)
		}
		out = append(out, fmt.Sprint(entry["manager"], " ", entry["operation"], " ", entry["apiVersion"], " ", string(set.AppendJSON(nil))))
	}
	slices.Sort(out)
	return out
}

func (s *sides) compare(step string) {
	s.t.Helper()
	if s.theirs == nil {
		return
	}
	want, managed := s.tree(s.theirs.DeepCopyObject())
	delete(want["metadata"].(schema.Tree), "uid")
	wantJSON := codec.EncodeJSON(s.kind, want).JSON
	gotJSON := codec.EncodeJSON(s.kind, s.ours).JSON
	if !bytes.Equal(gotJSON, wantJSON) {
		s.t.Fatalf("%s: the object is\n%s, want\n%s", step, gotJSON, wantJSON)
	}
	if got, want := owners(s.managed), owners(managed); !slices.Equal(got, want) {
		s.t.Fatalf("%s of %s: the owners are\n%s, want\n%s", step, gotJSON, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// normal is a tree as the public type shows it: what cannot be told from absence is absent.
func (s *sides) normal(t schema.Tree) schema.Tree {
	out, _ := s.tree(s.object(t))
	return out
}

// rounds is how many random histories each kind has.
func rounds() int64 {
	if os.Getenv("TROUPE_SOAK") != "" {
		return 500
	}
	return 4
}

func TestAgainstTheOracle(t *testing.T) {
	kinds, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	for gvk := range public.Kinds {
		k := kinds.ByGVK(gvk)
		if k == nil || k.Virtual() || k.Resource == "" || !scheme.Scheme.Recognizes(kschema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind}) {
			continue
		}
		t.Run(gvk.APIVersion()+" "+gvk.Kind, func(t *testing.T) {
			for seed := range rounds() {
				history(t, k, seed)
			}
		})
	}
}

// history is one random history of an object.
func history(t *testing.T, k *schema.Kind, seed int64) {
	r := maker{rand.New(rand.NewSource(seed))}
	s := newSides(t, k)
	density := 0.15 + 0.5*r.Float64()
	for i := range 8 {
		manager := []string{"one", "two", "three"}[r.Intn(3)]
		step := fmt.Sprintf("seed %d step %d: ", seed, i)
		switch r.Intn(3) {
		case 0:
			s.update(manager, s.normal(r.object(k, density)))
			step += manager + " updates"
		default:
			config := r.object(k, density)
			step += manager + " applies " + text(config)
			s.apply(manager, config, r.Intn(2) == 0)
		}
		s.compare(step)
	}
	if s.theirs != nil && reflect.ValueOf(s.theirs).IsNil() {
		t.Fatal("nothing was compared")
	}
}
