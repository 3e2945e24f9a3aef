package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/crd"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Outline decodes a stored CustomResourceDefinition without its schemas. Compile accepts the
// result.
func (c *Catalog) Outline(o *meta.Object) (tree.Tree, error) {
	return c.compiler.Outline(c.definitionKind, o)
}

// Compile compiles a CustomResourceDefinition, or its outline, into kinds. It returns nil if the
// CRD has no storage version, is not named <plural>.<group>, or conflicts with a built-in kind.
// Validation rejects such CRDs, but older ones may be stored.
func (c *Catalog) Compile(definition tree.Tree) *crd.Definition {
	d := c.compiler.Compile(definition)
	if d == nil || d.Name != d.Stored.Storage.String() || c.ConflictsWithBuiltIn(definition) {
		return nil
	}
	for _, k := range d.Stored.Versions {
		for i := range k.Subresources {
			if s := &k.Subresources[i]; s.Kind.Kind != "" {
				s.BodyKind = c.builtIn.byKind[s.Kind]
			}
		}
		attachDefaultViews(k)
	}
	return d
}

// ConflictsWithBuiltIn reports whether the spec or the accepted names of a CRD contain the resource
// name or kind of a built-in kind, served or not.
func (c *Catalog) ConflictsWithBuiltIn(definition tree.Tree) bool {
	spec := definition.Object("spec")
	group := spec.String("group")
	all := []tree.Tree{spec.Object("names"), definition.Object("status", "acceptedNames")}
	return c.builtIn.containsKind(group, func(k *schema.Kind) bool {
		return slices.ContainsFunc(all, func(names tree.Tree) bool {
			plural := names.String("plural")
			return plural != "" && (plural == k.Resource || k.Storage == meta.GroupResource{Group: group, Resource: plural}) ||
				k.Kind == names.String("kind")
		})
	})
}

// Opaque returns a kind that can read stored objects whose CRD does not exist.
func (c *Catalog) Opaque(storage meta.GroupResource) *schema.Kind { return c.compiler.Opaque(storage) }

// AddDefinition serves a CRD's kinds, replacing the kinds of its previous revision.
func (c *Catalog) AddDefinition(d *crd.Definition) { c.setDefinition(d.Name, nil, d) }

// RemoveDefinition stops serving a CRD's kinds and releases their compiled form. It does nothing if
// another revision of the CRD is served.
func (c *Catalog) RemoveDefinition(d *crd.Definition) { c.setDefinition(d.Name, d, nil) }

// Definition returns the served CRD with the given name, or nil.
func (c *Catalog) Definition(name string) *crd.Definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, group, _ := strings.Cut(name, ".") // Compile ensures names of the form <plural>.<group>
	return c.definitions[group][name]
}

// IsBuiltInGroup reports whether any built-in kind of the group is served.
func (c *Catalog) IsBuiltInGroup(group string) bool {
	return slices.ContainsFunc(c.builtIn.kinds, func(k *schema.Kind) bool { return k.Group == group })
}

// Generation returns the number of catalog changes so far.
func (c *Catalog) Generation() uint64 { return c.current.Load().generation }

// Changed returns a channel that is closed on the next catalog change.
func (c *Catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// setDefinition replaces the served revision of a CRD with d. If d is nil, it stops serving the
// CRD, unless a revision other than removed is served.
//
// Lookups find built-in kinds first, so no CRD can replace a built-in kind.
func (c *Catalog) setDefinition(name string, removed, d *crd.Definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, group, _ := strings.Cut(name, ".")
	former := c.definitions[group][name]
	switch {
	case d == nil && former != removed:
		return
	case d == nil:
		delete(c.definitions[group], name)
	case c.definitions[group] == nil:
		c.definitions[group] = map[string]*crd.Definition{name: d}
	default:
		c.definitions[group][name] = d
	}
	last := c.current.Load()
	groups := maps.Clone(last.custom)
	if groups == nil {
		groups = map[string]*kindSet{}
	}
	groups[group] = c.customKinds(group)
	if len(c.definitions[group]) == 0 {
		delete(c.definitions, group)
		delete(groups, group)
	}
	c.current.Store(newSnapshot(last.generation+1, last.builtIn, groups))
	if former != nil && former != d {
		former.Release()
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// customKinds adds the kinds in name order, so that creation order does not decide which CRD wins a
// conflict.
func (c *Catalog) customKinds(group string) *kindSet {
	of := newKindSet(len(c.definitions[group]))
	for _, name := range slices.Sorted(maps.Keys(c.definitions[group])) {
		of.addDefinition(c.definitions[group][name])
	}
	return &of
}
