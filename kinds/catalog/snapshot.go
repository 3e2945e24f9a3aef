package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// A snapshot is an immutable version of a catalog's content. Each change creates a new snapshot.
type snapshot struct {
	generation uint64
	builtIn    *kindSet
	custom     map[string]*kindSet // by group; snapshots share unchanged sets
	lists      func() *kindLists   // computed on first use
}

// A kindSet contains either all built-in kinds or the custom kinds of one group.
type kindSet struct {
	all        []*schema.Kind // every kind with a path, including disabled ones
	kinds      []*schema.Kind // the served kinds in all
	byKind     map[meta.GroupVersionKind]*schema.Kind
	byResource map[resourceKey]*schema.Kind
}

type kindLists struct{ kinds, storage []*schema.Kind }

type resourceKey struct{ group, version, name string }

func newSnapshot(generation uint64, builtIn *kindSet, groups map[string]*kindSet) *snapshot {
	s := &snapshot{generation: generation, builtIn: builtIn, custom: groups}
	s.lists = sync.OnceValue(s.list)
	return s
}

func (s *snapshot) byResource(r resourceKey) *schema.Kind {
	if k := s.builtIn.byResource[r]; k != nil {
		return k
	}
	if of := s.custom[r.group]; of != nil {
		return of.byResource[r]
	}
	return nil
}

func (s *snapshot) byKind(gvk meta.GroupVersionKind) *schema.Kind {
	if k := s.builtIn.byKind[gvk]; k != nil {
		return k
	}
	if of := s.custom[gvk.Group]; of != nil {
		return of.byKind[gvk]
	}
	return nil
}

func (s *snapshot) list() *kindLists {
	l := &kindLists{kinds: slices.Clone(s.builtIn.kinds)}
	all := slices.Clone(s.builtIn.all)
	for _, name := range slices.Sorted(maps.Keys(s.custom)) {
		all = append(all, s.custom[name].all...)
		l.kinds = append(l.kinds, s.custom[name].kinds...)
	}
	slices.SortStableFunc(l.kinds, compareKinds)
	for _, k := range all {
		if k.Stored == k && !k.Virtual() {
			l.storage = append(l.storage, k)
		}
	}
	slices.SortStableFunc(l.storage, func(a, b *schema.Kind) int { return a.Storage.Compare(b.Storage) })
	return l
}

func newKindSet(size int) kindSet {
	return kindSet{
		byKind:     make(map[meta.GroupVersionKind]*schema.Kind, size),
		byResource: make(map[resourceKey]*schema.Kind, size),
	}
}

func (s *kindSet) add(k *schema.Kind) error {
	if s.byKind[k.GroupVersionKind] != nil {
		return fmt.Errorf("%s %s is declared twice", k.APIVersion(), k.Kind)
	}
	s.byKind[k.GroupVersionKind] = k
	if k.Resource == "" {
		return nil
	}
	r := resourceKey{k.Group, k.Version, k.Resource}
	if s.byResource[r] != nil {
		return fmt.Errorf("%s %s is declared twice", k.APIVersion(), k.Resource)
	}
	s.byResource[r] = k
	s.all = append(s.all, k)
	return nil
}

// addDefinition adds the kinds of d, except those whose names another CRD of the group uses.
func (s *kindSet) addDefinition(d *crd.Definition) {
	if !slices.Contains(d.Served, d.Stored) {
		s.all = append(s.all, d.Stored)
	}
	for _, k := range d.Served {
		if s.add(k) == nil {
			s.kinds = append(s.kinds, k)
		}
	}
}

// containsKind reports whether holds returns true for a kind of the group or a kind stored under
// it. This includes disabled kinds and kinds without a resource.
func (s *kindSet) containsKind(group string, holds func(k *schema.Kind) bool) bool {
	for _, k := range s.byKind {
		if (k.Group == group || k.Storage.Group == group) && holds(k) {
			return true
		}
	}
	return false
}

func compareKinds(a, b *schema.Kind) int {
	return cmp.Or(
		strings.Compare(a.Group, b.Group),
		meta.CompareVersions(a.Version, b.Version),
		strings.Compare(a.Resource, b.Resource),
	)
}
