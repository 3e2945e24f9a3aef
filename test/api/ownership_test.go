package api

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
)

// ownershipComparison applies the same writes to an object in this server and in the oracle, the
// Kubernetes implementation of managed fields.
type ownershipComparison struct {
	t         *testing.T
	kind      *schema.Kind // in the storage version
	endpoints []ownershipEndpoint
	converts  bool           // the object is written through several versions
	diverged  bool           // after a known difference, the results cannot agree
	expected  runtime.Object // the oracle's object in the storage version; nil until it exists
	actual    tree.Tree
	managed   []any
}

// Server-side apply treats this manager and annotation specially.
const (
	ownershipKubectl     = "kubectl"
	ownershipLastApplied = "kubectl.kubernetes.io/last-applied-configuration"
)

var converter = applyconfigurations.NewTypeConverter(scheme.Scheme)

// newComparison returns a comparison with an endpoint for each of kinds, which are versions of the
// same kind. If sub is set, it adds endpoints for status and scale.
func newComparison(t *testing.T, sub bool, kinds ...*schema.Kind) *ownershipComparison {
	t.Helper()
	s := &ownershipComparison{t: t, kind: kinds[0].Stored, converts: len(kinds) > 1}
	for _, k := range kinds {
		s.endpoints = append(s.endpoints, s.endpoint(k, ""))
		for _, name := range []string{"status", "scale"} {
			if sub && k.Subresource(name) != nil {
				s.endpoints = append(s.endpoints, s.endpoint(k, name))
			}
		}
	}
	return s
}

func (s *ownershipComparison) form(apiVersion string) (managedfields.ServedVersion, bool) {
	for _, k := range s.kind.Versions {
		if k.APIVersion() == apiVersion {
			return managedfields.ServedVersion{
				Message:    k.Message(),
				FromStored: func(t tree.Tree) tree.Tree { return toServed(k, t) },
				ToStored:   func(t tree.Tree) tree.Tree { return toStored(k, t) },
			}, true
		}
	}
	return managedfields.ServedVersion{}, false
}

func (s *ownershipComparison) object(k *schema.Kind, t tree.Tree) runtime.Object {
	s.t.Helper()
	o, err := scheme.Scheme.New(gvkOf(k))
	if err != nil {
		s.t.Fatal(err)
	}
	client.Decode(s.t, codec.EncodeJSON(k, t).Unversioned(), o)
	o.GetObjectKind().SetGroupVersionKind(gvkOf(k))
	return o
}

// tree converts an object of a Go type to a tree. It returns the managedFields separately.
func (s *ownershipComparison) tree(k *schema.Kind, o runtime.Object) (tree.Tree, []any) {
	s.t.Helper()
	o.GetObjectKind().SetGroupVersionKind(gvkOf(k))
	text := client.Encode(s.t, o)
	t, faults, err := codec.DecodeJSON(k.Message(), text)
	if err != nil || len(faults) > 0 {
		s.t.Fatal(err, faults)
	}
	metadata := t["metadata"].(tree.Tree)
	managed, _ := metadata["managedFields"].([]any)
	delete(metadata, "managedFields")
	return t, managed
}

func (s *ownershipComparison) live() runtime.Object {
	s.t.Helper()
	if s.expected != nil {
		live := s.expected.DeepCopyObject()
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

// update replaces the object with next in both implementations. next is in the endpoint's version.
func (s *ownershipComparison) update(w ownershipEndpoint, manager string, next tree.Tree) {
	s.t.Helper()
	next = w.mergeWritable(s.actual, s.normal(s.kind, toStored(w.kind, next)))
	var err error
	if w.sub == "scale" {
		s.expected, err = s.scale(w, func(live runtime.Object) (runtime.Object, error) {
			return w.oracle.Update(live, scaleOf(live, replicasOf(next)), manager)
		})
	} else {
		theirs := s.object(s.kind, next)
		if s.expected != nil {
			theirs.(metav1.Object).SetUID("u")
		}
		s.expected, err = w.oracle.Update(s.live(), theirs, manager)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.expected.(metav1.Object).SetUID("u")
	s.managed = managedfields.Update(w.writer(manager), s.form, s.actual, next, s.managed, false)
	s.actual = next
}

// maxAttempts limits how often the oracle repeats an apply until both implementations agree. The
// result depends on the random order in which the oracle converts between versions.
const maxAttempts = 16

func (s *ownershipComparison) apply(w ownershipEndpoint, manager string, config tree.Tree, force bool) {
	s.t.Helper()
	before, moves := *s, s.changesVersion(w, manager)
	writer := w.writer(manager)
	if manager == ownershipKubectl && w.sub != "scale" {
		writer.LastApplied = s.actual.Object("metadata", "annotations").String(ownershipLastApplied)
		config = maps.Clone(config)
		config["apiVersion"], config["kind"] = w.kind.APIVersion(), w.kind.Kind
	}
	ours, managed, fault := managedfields.Apply(writer, s.form, s.actual, config, s.managed, force)
	if fault == nil && len(s.endpoints) > 1 {
		ours = w.mergeWritable(s.actual, ours)
	}
	if fault == nil {
		s.actual, s.managed = ours, managed
		s.applyAgain(w, writer, config)
	}
	if fault == nil && before.expected != nil && len(before.managed)+len(managed) == 0 {
		return // the oracle would start to manage the object at the second of two such applies
	}
	for i := range maxAttempts {
		theirs, err := s.oracle(&before, w, manager, config, force)
		if lines(err) != lines(fault) {
			if s.converts && i < maxAttempts-1 {
				continue
			}
			s.t.Fatalf("apply %s of %s: the oracle says %v, we say %v", textOwnership(config), manager, err, fault)
		}
		if err != nil {
			return
		}
		s.expected = theirs
		if writer.LastApplied != "" { // the oracle has updated the annotation
			s.actual = tree.Clone(s.actual).(tree.Tree)
			s.actual.EnsureObject("metadata", "annotations")[ownershipLastApplied] = theirs.(metav1.Object).GetAnnotations()[ownershipLastApplied]
		}
		if !s.converts || s.difference() == "" {
			return
		}
	}
	s.diverged = moves && s.sameButKeptLists(before.actual)
}

// applyAgain repeats the last apply, which must not change anything.
func (s *ownershipComparison) applyAgain(w ownershipEndpoint, writer managedfields.Writer, config tree.Tree) {
	s.t.Helper()
	again, managed, err := managedfields.Apply(writer, s.form, s.actual, config, s.managed, false)
	if err == nil && len(s.endpoints) > 1 {
		again = w.mergeWritable(s.actual, again)
	}
	if err != nil || textOwnership(again) != textOwnership(s.actual) || !slices.Equal(ownersOwnership(managed), ownersOwnership(s.managed)) {
		s.t.Fatalf("apply %s of %s again: %v\n%s\n%s has become\n%s\n%s", textOwnership(config), writer.Manager, err,
			textOwnership(s.actual), ownersOwnership(s.managed), textOwnership(again), ownersOwnership(managed))
	}
}

// oracle applies config to the previous object in the oracle and returns the result.
func (s *ownershipComparison) oracle(before *ownershipComparison, w ownershipEndpoint, manager string, config tree.Tree, force bool) (runtime.Object, error) {
	s.t.Helper()
	if w.sub == "scale" {
		return before.scale(w, func(live runtime.Object) (runtime.Object, error) {
			return w.oracle.Apply(live, scaleConfig(config), manager, force)
		})
	}
	patch := &unstructured.Unstructured{Object: plainOwnership(config).(map[string]any)}
	patch.SetGroupVersionKind(gvkOf(w.kind))
	theirs, err := w.oracle.Apply(before.live(), patch, manager, force)
	if err != nil {
		return nil, err
	}
	if len(s.endpoints) > 1 { // as the public server's storage does
		held := theirs.(metav1.Object).GetManagedFields()
		whole, _ := s.tree(s.kind, theirs)
		theirs = s.object(s.kind, w.mergeWritable(before.actual, whole))
		theirs.(metav1.Object).SetManagedFields(held)
	}
	theirs.(metav1.Object).SetUID("u")
	return s.withExplicit(w, theirs, config), nil
}

// lines returns the sorted lines of an error message, because the oracle reports conflicts in
// random order.
func lines(err error) string {
	if err == nil {
		return ""
	}
	all := strings.Split(err.Error(), "\n")
	slices.Sort(all)
	return strings.Join(all, "\n")
}

func plainOwnership(v any) any {
	switch v := v.(type) {
	case tree.Tree:
		out := map[string]any{}
		for key, e := range v {
			out[key] = plainOwnership(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainOwnership(e)
		}
		return out
	}
	return v
}

func textOwnership(t tree.Tree) string { return string(codec.AppendAny(nil, t)) }

// ownersOwnership returns the managedFields entries without timestamps, sorted.
func ownersOwnership(managed []any) []string {
	var out []string
	for _, v := range managed {
		entry := v.(tree.Tree)
		set, err := managedfields.Parse(entry["fieldsV1"].(string))
		if err != nil {
			panic(err)
		}
		out = append(out, fmt.Sprint(entry["manager"], " ", entry["operation"], " ", entry["apiVersion"], " ", entry["subresource"], " ", string(set.AppendJSON(nil))))
	}
	slices.Sort(out)
	return out
}

func (s *ownershipComparison) compare(step string) {
	s.t.Helper()
	if s.expected == nil || s.diverged {
		return
	}
	if difference := s.difference(); difference != "" {
		s.t.Fatalf("%s: %s", step, difference)
	}
}

// difference describes how the two results differ. It returns "" if they agree.
func (s *ownershipComparison) difference() string {
	s.t.Helper()
	want, managed := s.tree(s.kind, s.expected.DeepCopyObject())
	delete(want["metadata"].(tree.Tree), "uid")
	wantJSON := codec.EncodeJSON(s.kind, want).JSON
	gotJSON := codec.EncodeJSON(s.kind, s.actual).JSON
	if !bytes.Equal(gotJSON, wantJSON) {
		return fmt.Sprintf("the object is\n%s, want\n%s", gotJSON, wantJSON)
	}
	if got, want := ownersOwnership(s.managed), ownersOwnership(managed); !slices.Equal(got, want) {
		return fmt.Sprintf("the owners of %s are\n%s, want\n%s", gotJSON, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return ""
}

// normal converts a tree to its Go type and back, which drops values that the type cannot
// distinguish from absent ones.
func (s *ownershipComparison) normal(k *schema.Kind, t tree.Tree) tree.Tree {
	out, _ := s.tree(k, s.object(k, t))
	return out
}
