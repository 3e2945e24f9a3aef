package ownership

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"os"
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
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/troupe-api/troupe/kinds/catalog"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/ownership"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/test/public"
)

// A way is one resource through which an object is written: a version of its kind, or a
// sub-resource.
type way struct {
	kind   *schema.Kind
	sub    string
	oracle *managedfields.FieldManager
}

// A sides is a side by side run of both implementations on one object.
type sides struct {
	t        *testing.T
	kind     *schema.Kind // as it is stored
	ways     []way
	converts bool           // between versions
	theirs   runtime.Object // as it is stored; nil until the object exists
	ours     schema.Tree
	managed  []any
}

var converter = applyconfigurations.NewTypeConverter(scheme.Scheme)

// newSides has a way through each of the kinds, which show the same object; with sub, also
// through the status of each.
func newSides(t *testing.T, sub bool, kinds ...*schema.Kind) *sides {
	t.Helper()
	s := &sides{t: t, kind: kinds[0].Stored, converts: len(kinds) > 1}
	for _, k := range kinds {
		s.ways = append(s.ways, s.way(k, ""))
		if sub {
			s.ways = append(s.ways, s.way(k, "status"))
		}
	}
	return s
}

func (s *sides) way(k *schema.Kind, sub string) way {
	s.t.Helper()
	var convertor runtime.ObjectConvertor = scheme.Scheme
	if s.converts {
		convertor = conversion{s}
	}
	resets := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, form := range s.kind.Forms {
		resets[fieldpath.APIVersion(form.APIVersion())] = unreached(form, sub)
	}
	if k.Subresource("status") == nil {
		resets = nil
	}
	gvk := gvkOf(k)
	oracle, err := managedfields.NewDefaultFieldManager(converter, convertor, scheme.Scheme, scheme.Scheme, gvk, gvkOf(s.kind).GroupVersion(), sub, resets)
	if err != nil {
		s.t.Fatal(err)
	}
	return way{k, sub, oracle}
}

// unreached are the fields that a write of a resource does not reach.
func unreached(k *schema.Kind, sub string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, f := range k.Message.Fields {
		if (f.Name == "status") != (sub == "status") {
			set.Insert(fieldpath.MakePathOrDie(f.Name))
		}
	}
	return fieldpath.NewExcludeSetFilter(set)
}

func gvkOf(k *schema.Kind) kschema.GroupVersionKind {
	return kschema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

func (s *sides) form(apiVersion string) (ownership.Form, bool) {
	for _, k := range s.kind.Forms {
		if k.APIVersion() == apiVersion {
			return ownership.Form{
				Message: k.Message,
				Show:    func(t schema.Tree) schema.Tree { return shown(k, t) },
				Store:   func(t schema.Tree) schema.Tree { return stored(k, t) },
			}, true
		}
	}
	return ownership.Form{}, false
}

// object is a tree as the public type.
func (s *sides) object(k *schema.Kind, t schema.Tree) runtime.Object {
	s.t.Helper()
	o, err := scheme.Scheme.New(gvkOf(k))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(codec.EncodeJSON(k, t).Unversioned(), o); err != nil {
		s.t.Fatal(err)
	}
	o.GetObjectKind().SetGroupVersionKind(gvkOf(k))
	return o
}

// tree is an object of the public type as a tree, and its managers.
func (s *sides) tree(k *schema.Kind, o runtime.Object) (schema.Tree, []any) {
	s.t.Helper()
	o.GetObjectKind().SetGroupVersionKind(gvkOf(k))
	text, err := json.Marshal(o)
	if err != nil {
		s.t.Fatal(err)
	}
	t, faults, err := codec.DecodeJSON(k.Message, text)
	if err != nil || len(faults) > 0 {
		s.t.Fatal(err, faults)
	}
	metadata := t["metadata"].(schema.Tree)
	managed, _ := metadata["managedFields"].([]any)
	delete(metadata, "managedFields")
	return t, managed
}

func (w way) writer(manager string) ownership.Writer {
	return ownership.Writer{
		Manager: manager, APIVersion: w.kind.APIVersion(), Now: "2030-01-01T00:00:00Z", Subresource: w.sub,
		Only: w.sub, KeepsStatus: w.sub == "" && w.kind.Subresource("status") != nil,
	}
}

// reach is next as far as the way leads there: the rest stays as it was.
func (w way) reach(before, next schema.Tree) schema.Tree {
	switch {
	case w.kind.Subresource("status") == nil:
		return next
	case w.sub == "":
		next = maps.Clone(next)
		rules.Carry(next, before, "status")
		return next
	case before == nil:
		before = schema.Tree{"metadata": next["metadata"]}
	}
	out := maps.Clone(before)
	rules.Carry(out, next, "status")
	return out
}

// live is what the oracle has now.
func (s *sides) live() runtime.Object {
	s.t.Helper()
	if s.theirs != nil {
		live := s.theirs.DeepCopyObject()
		live.GetObjectKind().SetGroupVersionKind(gvkOf(s.kind))
		return live
	}
	live, err := scheme.Scheme.New(gvkOf(s.kind))
	if err != nil {
		s.t.Fatal(err)
	}
	live.GetObjectKind().SetGroupVersionKind(gvkOf(s.kind))
	return live
}

// update replaces the object by next, which is as its way shows it.
func (s *sides) update(w way, manager string, next schema.Tree) {
	s.t.Helper()
	next = w.reach(s.ours, s.normal(s.kind, stored(w.kind, next)))
	theirs := s.object(s.kind, next)
	if s.theirs != nil {
		theirs.(metav1.Object).SetUID("u")
	}
	var err error
	if s.theirs, err = w.oracle.Update(s.live(), theirs, manager); err != nil {
		s.t.Fatal(err)
	}
	s.theirs.(metav1.Object).SetUID("u")
	s.managed = ownership.Update(w.writer(manager), s.form, s.ours, next, s.managed, false)
	s.ours = next
}

func (s *sides) apply(w way, manager string, config schema.Tree, force bool) {
	s.t.Helper()
	patch := &unstructured.Unstructured{Object: plain(config).(map[string]any)}
	patch.SetGroupVersionKind(gvkOf(w.kind))
	theirs, err := w.oracle.Apply(s.live(), patch, manager, force)
	ours, managed, fault := ownership.Apply(w.writer(manager), s.form, s.ours, config, s.managed, force)
	if (err != nil) != (fault != nil) {
		s.t.Fatalf("apply %s of %s: the oracle says %v, we say %v", text(config), manager, err, fault)
	}
	if err != nil {
		if lines(err) != lines(fault) {
			s.t.Fatalf("apply of %s: the oracle says %v, we say %v", manager, err, fault)
		}
		return
	}
	if len(s.ways) > 1 { // what storage does
		held := theirs.(metav1.Object).GetManagedFields()
		whole, _ := s.tree(s.kind, theirs)
		theirs = s.object(s.kind, w.reach(s.ours, whole))
		theirs.(metav1.Object).SetManagedFields(held)
		ours = w.reach(s.ours, ours)
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
		out = append(out, fmt.Sprint(entry["manager"], " ", entry["operation"], " ", entry["apiVersion"], " ", entry["subresource"], " ", string(set.AppendJSON(nil))))
	}
	slices.Sort(out)
	return out
}

func (s *sides) compare(step string) {
	s.t.Helper()
	if s.theirs == nil {
		return
	}
	want, managed := s.tree(s.kind, s.theirs.DeepCopyObject())
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
func (s *sides) normal(k *schema.Kind, t schema.Tree) schema.Tree {
	out, _ := s.tree(k, s.object(k, t))
	return out
}

// rounds is how many random histories each kind has.
func rounds() int64 {
	if os.Getenv("TROUPE_SOAK") != "" {
		return 500
	}
	return 3
}

// kinds are those of the catalogue that the public library knows too.
func kinds(t *testing.T) (list []*schema.Kind) {
	t.Helper()
	all, err := catalog.New(meta.Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	for gvk := range public.Kinds {
		k := all.ByGVK(gvk)
		if k != nil && !k.Virtual() && k.Resource != "" && scheme.Scheme.Recognizes(gvkOf(k)) {
			list = append(list, k)
		}
	}
	return list
}

func TestAgainstTheOracle(t *testing.T) {
	for _, k := range kinds(t) {
		if k.Stored != k {
			continue
		}
		t.Run(k.APIVersion()+" "+k.Kind, func(t *testing.T) {
			for seed := range rounds() {
				history(newSides(t, k.Subresource("status") != nil && seed%2 == 0, k), seed)
			}
		})
	}
}

func TestVersionsAgainstTheOracle(t *testing.T) {
	for _, k := range kinds(t) {
		if k.Stored != k || len(k.Forms) < 2 {
			continue
		}
		var forms []*schema.Kind
		for _, form := range k.Forms {
			if form.Group == k.Group && scheme.Scheme.Recognizes(gvkOf(form)) {
				forms = append(forms, form)
			}
		}
		if len(forms) < 2 {
			continue
		}
		t.Run(k.APIVersion()+" "+k.Kind, func(t *testing.T) {
			for seed := range 5 * rounds() {
				history(newSides(t, k.Subresource("status") != nil && seed%2 == 0, forms...), seed)
			}
		})
	}
}

// TestManyUpdaters: the managers write one after another in the order of their names, so that
// both sides find the same ones to be the oldest.
func TestManyUpdaters(t *testing.T) {
	for _, k := range kinds(t) {
		if k.Stored != k || k.Resource != "pods" && k.Resource != "services" && k.Resource != "configmaps" {
			continue
		}
		s, r := newSides(t, false, k), Maker{Rand: rand.New(rand.NewSource(1))}
		next := s.normal(k, r.Object(k, 0.5))
		for i := range 14 {
			next = maps.Clone(next)
			next["metadata"] = rules.Clone(next["metadata"])
			rules.Grow(next, "metadata", "labels")[fmt.Sprint("l", i)] = "v"
			s.update(s.ways[0], fmt.Sprintf("m%02d", i), next)
			s.compare(fmt.Sprint(k.Kind, " updater ", i))
		}
		if len(s.managed) != 10 {
			t.Errorf("%s: %d managers", k.Kind, len(s.managed))
		}
	}
}

// history is one random history of an object.
func history(s *sides, seed int64) {
	s.t.Helper()
	r := Maker{Rand: rand.New(rand.NewSource(seed))}
	if s.converts {
		r.Always = map[string]bool{}
		for _, k := range s.kind.Forms {
			always(k.Message, r.Always, map[*schema.Message]bool{})
		}
	}
	density := 0.15 + 0.5*r.Float64()
	for i := range 8 {
		w := s.ways[r.Intn(len(s.ways))]
		if i == 0 {
			w = s.ways[0]
		}
		manager := []string{"one", "two", "three"}[r.Intn(3)]
		step := fmt.Sprintf("seed %d step %d: %s %s ", seed, i, w.kind.APIVersion(), w.sub)
		switch r.Twice = false; r.Intn(3) {
		case 0:
			r.Twice = !s.converts && seed%3 == 1 // nobody can apply such lists
			s.update(w, manager, s.normal(w.kind, r.Object(w.kind, density)))
			step += manager + " updates"
		default:
			config := r.Object(w.kind, density)
			step += manager + " applies " + text(config)
			s.apply(w, manager, config, r.Intn(2) == 0)
		}
		s.compare(step)
	}
}

// always gathers the names of the fields of a message, and below, that are always written.
func always(m *schema.Message, names map[string]bool, seen map[*schema.Message]bool) {
	if seen[m] {
		return
	}
	seen[m] = true
	for _, f := range m.Fields {
		if f.Always {
			names[f.Name] = true
		}
		if f.Message != nil {
			always(f.Message, names, seen)
		}
	}
}
