package catalog

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Compile turns a CustomResourceDefinition into kinds, ready to be stored and served. It returns nil
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

// containsKind reports whether holds is true for any kind of a group. Kinds that are switched off,
// that have no path, or that are only stored under that group count too.
func (e *snapshot) containsKind(group string, holds func(k *schema.Kind) bool) bool {
	for _, k := range e.byKind {
		if (k.Group == group || k.Storage.Group == group) && holds(k) {
			return true
		}
	}
	return false
}

// hasBuiltInGroup reports whether a group has built-in kinds, served or not.
func (c *Catalog) hasBuiltInGroup(group string) bool {
	return c.builtIn.containsKind(group, func(*schema.Kind) bool { return true })
}

// Opaque returns a kind for stored objects whose definition is missing.
func (c *Catalog) Opaque(storage meta.GroupResource) *schema.Kind { return c.compiler.Opaque(storage) }

// AddDefinition starts serving the kinds of a definition, in place of those of its earlier state.
func (c *Catalog) AddDefinition(d *custom.Definition) {
	c.publish(func() {
		c.definitions[d.Name] = d
		for _, k := range d.Served {
			r := resourceKey{k.Group, k.Version, k.Resource}
			if k.Original = c.firstKinds[r]; k.Original == nil {
				c.firstKinds[r] = k
			}
		}
	})
}

// RemoveDefinition stops serving the kinds of a definition.
func (c *Catalog) RemoveDefinition(name string) {
	c.publish(func() { delete(c.definitions, name) })
}

// Definition returns the compiled definition of a name; nil if it is not served.
func (c *Catalog) Definition(name string) *custom.Definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.definitions[name]
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

// publish applies a change of the definitions and swaps in the next snapshot. Built-in kinds are
// added first, so that no definition can replace one.
func (c *Catalog) publish(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	e := &snapshot{
		generation: c.current.Load().generation + 1,
		all:        slices.Clone(c.builtIn.all), kinds: slices.Clone(c.builtIn.kinds),
		byKind: maps.Clone(c.builtIn.byKind), byResource: maps.Clone(c.builtIn.byResource),
	}
	for _, name := range slices.Sorted(maps.Keys(c.definitions)) {
		d := c.definitions[name]
		if !slices.Contains(d.Served, d.Stored) {
			e.all = append(e.all, d.Stored)
		}
		for _, k := range d.Served {
			if e.add(k) == nil {
				e.kinds = append(e.kinds, k)
			}
		}
	}
	slices.SortStableFunc(e.all, compareKinds)
	slices.SortStableFunc(e.kinds, compareKinds)
	c.current.Store(e)
	close(c.changed)
	c.changed = make(chan struct{})
}
