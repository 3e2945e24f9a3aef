package api

import (
	"fmt"
	"maps"
	"math/rand"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
	"github.com/troupe-api/troupe/test/client"
	"github.com/troupe-api/troupe/test/public"
)

// ownershipShortRounds is the number of random histories per kind covered by "make test".
const ownershipShortRounds = 3

// kindsOwnership returns the catalog's kinds that client-go also supports.
func kindsOwnership(t *testing.T) (list []*schema.Kind) {
	t.Helper()
	all := newCatalog(t, meta.Kubernetes)
	for gvk := range public.Kinds {
		k := all.ByGVK(gvk)
		if k != nil && !k.Virtual() && k.Resource != "" && scheme.Scheme.Recognizes(gvkOf(k)) {
			list = append(list, k)
		}
	}
	return list
}

func TestAgainstTheOracle(t *testing.T) {
	t.Parallel()
	all, histories := kindsOwnership(t), 0
	for _, k := range all {
		if k.Stored != k {
			continue
		}
		t.Run(k.APIVersion()+" "+k.Kind, func(t *testing.T) {
			for seed := range client.Rounds(t, ownershipShortRounds, len(all)) {
				history(newComparison(t, k.Subresource("status") != nil && seed%2 == 0, k), int64(seed))
				histories++
			}
		})
	}
	client.Figures(t, "%d histories of apply, update and patch against the public library", histories)
}

func TestVersionsAgainstTheOracle(t *testing.T) {
	t.Parallel()
	all, histories := kindsOwnership(t), 0
	for _, k := range all {
		if k.Stored != k || len(k.Versions) < 2 {
			continue
		}
		forms := formsOf(k)
		if len(forms) < 2 {
			continue
		}
		t.Run(k.APIVersion()+" "+k.Kind, func(t *testing.T) {
			for seed := range client.Rounds(t, 5*ownershipShortRounds, len(all)) {
				history(newComparison(t, k.Subresource("status") != nil && seed%2 == 0, forms...), int64(seed))
				histories++
			}
		})
	}
	client.Figures(t, "%d histories over several versions of a kind", histories)
}

// formsOf returns the versions of a kind, within its group, that client-go also supports.
func formsOf(k *schema.Kind) (forms []*schema.Kind) {
	for _, form := range k.Versions {
		if form.Group == k.Group && scheme.Scheme.Recognizes(gvkOf(form)) {
			forms = append(forms, form)
		}
	}
	return forms
}

// history applies random writes to an object in both implementations and compares the results.
func history(s *ownershipComparison, seed int64) {
	s.t.Helper()
	r := ObjectGenerator{Rand: rand.New(rand.NewSource(seed))}
	if s.converts {
		r.Always = alwaysOf(s.kind)
	}
	density := 0.15 + 0.5*r.Float64()
	for i := range 8 {
		w := s.endpoints[r.Intn(len(s.endpoints))]
		if i == 0 {
			w = s.endpoints[0]
		}
		manager := []string{"one", "two", ownershipKubectl}[r.Intn(3)]
		step := fmt.Sprintf("seed %d step %d: %s %s ", seed, i, w.kind.APIVersion(), w.sub)
		switch r.Twice = false; r.Intn(3) {
		case 0:
			r.Twice = !s.converts && seed%3 == 1 // for updates only: duplicate items cannot be applied
			s.update(w, manager, s.randomObject(r, w, density))
			step += manager + " updates"
		default:
			r.Nulls = seed%3 == 2 && !s.converts
			config := s.config(r, w, density)
			r.Nulls = false
			step += manager + " applies " + textOwnership(config)
			s.apply(w, manager, config, r.Intn(2) == 0)
		}
		if s.compare(step); s.diverged {
			return
		}
	}
}

func (s *ownershipComparison) randomObject(r ObjectGenerator, w ownershipEndpoint, density float64) tree.Tree {
	s.t.Helper()
	if w.sub == "scale" {
		return withReplicas(s.actual, int64(1+r.Intn(3)))
	}
	object := s.normal(w.kind, r.Object(w.kind, density))
	if text := s.lastApplied(r, w, density, object); text != "" {
		object.EnsureObject("metadata", "annotations")[ownershipLastApplied] = text
	}
	return object
}

// lastApplied returns a random value for the last-applied annotation: the given object, a random
// object, the existing annotation, or "" for none.
func (s *ownershipComparison) lastApplied(r ObjectGenerator, w ownershipEndpoint, density float64, object tree.Tree) string {
	switch r.Intn(4) {
	case 0:
		object = r.Object(w.kind, density)
	case 1:
		return s.actual.Object("metadata", "annotations").String(ownershipLastApplied)
	case 2:
		return ""
	}
	object = maps.Clone(object)
	object["apiVersion"], object["kind"] = w.kind.APIVersion(), w.kind.Kind
	return textOwnership(object)
}

func (s *ownershipComparison) config(r ObjectGenerator, w ownershipEndpoint, density float64) tree.Tree {
	if w.sub == "scale" {
		return tree.Tree{"spec": tree.Tree{"replicas": int64(1 + r.Intn(3))}}
	}
	return r.Object(w.kind, density)
}

// alwaysOf returns the fields that at least one version of a kind never omits.
func alwaysOf(k *schema.Kind) map[string]bool {
	names := map[string]bool{}
	for _, form := range k.Versions {
		always(form.Message(), names, map[*schema.Message]bool{})
	}
	return names
}

// always recursively adds the names of fields that are never omitted.
func always(m *schema.Message, names map[string]bool, seen map[*schema.Message]bool) {
	if seen[m] {
		return
	}
	seen[m] = true
	for _, f := range m.Fields {
		if f.EmitEmpty {
			names[f.Name] = true
		}
		if f.Message != nil {
			always(f.Message, names, seen)
		}
	}
}
