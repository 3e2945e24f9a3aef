package catalog

import (
	"maps"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Outline is the tree of a stored CustomResourceDefinition without its schemas, as Compile takes it.
func (c *Catalog) Outline(o *meta.Object) (tree.Tree, error) {
	return c.compiler.Outline(c.definitionKind, o)
}

// Compile turns a CustomResourceDefinition, or the outline of one, into kinds, ready to be stored and served. It returns nil
// if no version is stored, and for definitions that the server never accepts: those whose name is
// not <plural>.<group>, and those that conflict with a built-in kind (ConflictsWithBuiltIn).
func (c *Catalog) Compile(definition tree.Tree) *custom.Definition {
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

// ConflictsWithBuiltIn reports whether a definition uses the resource name or the kind name of a
// built-in kind, served or not. Both the names in its spec and the accepted names count.
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

// Opaque returns a kind for stored objects whose definition is missing.
func (c *Catalog) Opaque(storage meta.GroupResource) *schema.Kind { return c.compiler.Opaque(storage) }

// AddDefinition starts serving the kinds of a definition, in place of those of its earlier state.
func (c *Catalog) AddDefinition(d *custom.Definition) { c.setDefinition(d.Name, nil, d) }

// RemoveDefinition stops serving the kinds of a definition, and releases what they have been compiled to. It does nothing
// if another state of the definition is served now.
func (c *Catalog) RemoveDefinition(d *custom.Definition) { c.setDefinition(d.Name, d, nil) }

// Definition returns the definition of a name; nil if it is not served.
func (c *Catalog) Definition(name string) *custom.Definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, group, _ := strings.Cut(name, ".") // Compile sees to it that names are <plural>.<group>
	return c.definitions[group][name]
}

// IsBuiltInGroup reports whether built-in kinds of a group are served.
func (c *Catalog) IsBuiltInGroup(group string) bool {
	return slices.ContainsFunc(c.builtIn.kinds, func(k *schema.Kind) bool { return k.Group == group })
}

// Generation counts the changes of the catalog.
func (c *Catalog) Generation() uint64 { return c.current.Load().generation }

// Changed returns a channel that is closed by the next change of the catalog.
func (c *Catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// setDefinition swaps in the next snapshot, with another state of a definition: d in place of the former one, whichever
// that is; or, without d, none in place of the one that is given.
//
// It costs as much as the definitions of its group, and a copy of the list of groups: many definitions may come one after
// the other. Built-in kinds are found first, so that no definition can replace one.
func (c *Catalog) setDefinition(name string, removed, d *custom.Definition) {
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
		c.definitions[group] = map[string]*custom.Definition{name: d}
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

// customKinds are the kinds that the definitions of a group make, in the order of their names: which of two with the
// same kind is served does not depend on which came first.
func (c *Catalog) customKinds(group string) *kindSet {
	of := newKindSet(len(c.definitions[group]))
	for _, name := range slices.Sorted(maps.Keys(c.definitions[group])) {
		of.addDefinition(c.definitions[group][name])
	}
	return &of
}
