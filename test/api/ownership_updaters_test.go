package api

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// updating lists kinds whose objects have many updaters, through one version, several versions, or
// the status.
var updating = []string{"pods", "services", "configmaps", "deployments", "horizontalpodautoscalers"}

// TestManyUpdaters checks how the entries of many updaters are merged. The managers write in name
// order, so that both implementations agree on the oldest manager.
func TestManyUpdaters(t *testing.T) {
	t.Parallel()
	for _, k := range kindsOwnership(t) {
		if k.Stored != k || !slices.Contains(updating, k.Resource) {
			continue
		}
		for seed := range int64(ownershipShortRounds) {
			s, r := newComparison(t, k.Subresource("status") != nil, formsOf(k)...), newObjectGenerator(k, seed)
			next := s.normal(k, r.Object(k, 0.5))
			// Exclude the scale. The oracle loses the timestamp of a scale write, so the scale's
			// manager would appear to be the oldest.
			ways := slices.DeleteFunc(slices.Clone(s.endpoints), func(w ownershipEndpoint) bool { return w.sub == "scale" })
			s.update(s.endpoints[0], "m", next)
			for i := range 16 {
				w := ways[r.Intn(len(ways))]
				s.update(w, fmt.Sprintf("m%02d", i), s.touched(w, i))
				s.compare(fmt.Sprint(k.Kind, " seed ", seed, " updater ", i, " of ", w.kind.Version, " ", w.sub))
			}
			if len(s.managed) > 10 {
				t.Errorf("%s, seed %d: %d managers", k.Kind, seed, len(s.managed))
			}
		}
	}
}

func newObjectGenerator(k *schema.Kind, seed int64) ObjectGenerator {
	r := ObjectGenerator{Rand: rand.New(rand.NewSource(seed))}
	if len(formsOf(k)) > 1 {
		r.Always = alwaysOf(k)
	}
	return r
}

// touched returns the object in the version of w, with an additional field for the i-th writer.
func (s *ownershipComparison) touched(w ownershipEndpoint, i int) tree.Tree {
	s.t.Helper()
	next := maps.Clone(toServed(w.kind, s.actual))
	switch {
	case w.sub == "":
		next["metadata"] = tree.Clone(next["metadata"])
		next.EnsureObject("metadata", "labels")[fmt.Sprint("l", i)] = "v"
	default:
		next["status"] = tree.Clone(next["status"])
		next.EnsureObject("status")["observedGeneration"] = int64(1 + i)
	}
	return s.normal(w.kind, next)
}
