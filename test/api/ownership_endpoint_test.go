package api

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	oracle "k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/troupe-api/troupe/kinds/managedfields"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// ownershipEndpoint is a version or subresource through which the object is written.
type ownershipEndpoint struct {
	kind   *schema.Kind
	sub    string
	oracle *oracle.FieldManager
}

func (s *ownershipComparison) endpoint(k *schema.Kind, sub string) ownershipEndpoint {
	s.t.Helper()
	if sub == "scale" {
		return ownershipEndpoint{k, sub, scaleOracle(s.t)}
	}
	var convertor runtime.ObjectConvertor = scheme.Scheme
	if s.converts {
		convertor = conversion{s}
	}
	resets := map[fieldpath.APIVersion]fieldpath.Filter{}
	for _, form := range s.kind.Versions {
		resets[fieldpath.APIVersion(form.APIVersion())] = unwritableFields(form, sub)
	}
	if k.Subresource("status") == nil {
		resets = nil
	}
	gvk := gvkOf(k)
	manager, err := oracle.NewDefaultFieldManager(converter, convertor, scheme.Scheme, scheme.Scheme, gvk, gvkOf(s.kind).GroupVersion(), sub, resets)
	if err != nil {
		s.t.Fatal(err)
	}
	return ownershipEndpoint{k, sub, manager}
}

// unwritableFields returns a filter that excludes the fields that a resource or subresource cannot
// write.
func unwritableFields(k *schema.Kind, sub string) fieldpath.Filter {
	set := fieldpath.NewSet()
	for _, f := range k.Message().Fields {
		if sub == "status" && f.Name != "status" && f.Name != "metadata" || sub == "" && f.Name == "status" {
			set.Insert(fieldpath.MakePathOrDie(f.Name))
		}
	}
	if s := k.Subresource(sub); s != nil {
		for _, name := range s.KeepsMetadata {
			if name == schema.EveryField {
				set.Insert(fieldpath.MakePathOrDie("metadata"))
				continue
			}
			set.Insert(fieldpath.MakePathOrDie("metadata", name))
		}
	}
	return fieldpath.NewExcludeSetFilter(set)
}

func gvkOf(k *schema.Kind) kschema.GroupVersionKind {
	return kschema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Kind}
}

func (w ownershipEndpoint) writer(manager string) managedfields.Writer {
	out := managedfields.Writer{Manager: manager, APIVersion: w.kind.APIVersion(), Now: "2030-01-01T00:00:00Z", Subresource: w.sub}
	switch w.sub {
	case "":
		out.KeepsStatus = w.kind.Subresource("status") != nil
	case "status":
		out.OnlyField, out.KeepsMetadata = "status", w.kind.Subresource("status").KeepsMetadata
	case "scale":
		out.Scale = &managedfields.Scale{Replicas: []string{"spec", "replicas"}, APIVersion: "autoscaling/v1"}
	}
	return out
}

// mergeWritable returns a copy of before with the fields of next that the endpoint may write.
func (w ownershipEndpoint) mergeWritable(before, next tree.Tree) tree.Tree {
	switch {
	case w.kind.Subresource("status") == nil || w.sub == "scale":
		return next
	case w.sub == "":
		next = maps.Clone(next)
		next.CopyField(before, "status")
		return next
	case before == nil:
		before = tree.Tree{"metadata": next["metadata"]}
	}
	out := maps.Clone(before)
	out.CopyField(next, "status")
	keeps := w.kind.Subresource("status").KeepsMetadata
	if slices.Contains(keeps, schema.EveryField) {
		return out
	}
	metadata := maps.Clone(next.Object("metadata"))
	for _, name := range keeps {
		metadata.CopyField(before.Object("metadata"), name)
	}
	out["metadata"] = metadata
	return out
}
