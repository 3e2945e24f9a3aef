package catalog

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

// Compile makes the kinds of a definition ready to be stored and served. It is nil if the
// Definition stores no version, or is one that the server never accepts: it is not called after what it defines,
// or takes the place of built-in kinds (Taken).
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

// ConflictsWithBuiltIn tells whether a definition uses the resource or the kind of a built-in kind, served or
// not, by the names that it asks for or those that it was accepted under.
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

// containsKind tells whether it holds for a kind of a group, also for one that is switched off, has no path,
// or is only stored under that group.
func (e *snapshot) containsKind(group string, holds func(k *schema.Kind) bool) bool {
	for _, k := range e.byKind {
		if (k.Group == group || k.Storage.Group == group) && holds(k) {
			return true
		}
	}
	return false
}

// hasBuiltInGroup tells whether a group has built-in kinds, switched off or not.
func (c *Catalog) hasBuiltInGroup(group string) bool {
	return c.builtIn.containsKind(group, func(*schema.Kind) bool { return true })
}

// Opaque is a kind for stored objects of which nobody knows the definition.
func (c *Catalog) Opaque(storage meta.GroupResource) *schema.Kind { return c.compiler.Opaque(storage) }

// AddDefinition serves the kinds of a definition from now on, in the place of those that it had before.
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

// RemoveDefinition ends what Define has begun.
func (c *Catalog) RemoveDefinition(name string) {
	c.publish(func() { delete(c.definitions, name) })
}

// Definition is what a definition has made; nil if it is not in use.
func (c *Catalog) Definition(name string) *custom.Definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.definitions[name]
}

// IsBuiltInGroup tells whether a group is one of built-in kinds.
func (c *Catalog) IsBuiltInGroup(group string) bool {
	return slices.ContainsFunc(c.builtIn.kinds, func(k *schema.Kind) bool { return k.Group == group })
}

// Generation counts the changes of the catalogue.
func (c *Catalog) Generation() uint64 { return c.current.Load().generation }

// Changed is closed when the catalogue changes after this call.
func (c *Catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// publish makes the next edition. Built-in kinds come first: no definition takes their place.
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
