package catalog

import (
	"maps"
	"slices"

	"github.com/troupe-api/troupe/kinds/custom"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
)

// Compile makes the kinds of a definition ready to be stored and served. It is nil if the
// definition stores no version, or is one that the server never accepts: it is not called after what it defines,
// or takes the place of built-in kinds (Taken).
func (c *Catalog) Compile(definition schema.Tree) *custom.Definition {
	d := c.compiler.Compile(definition)
	if d == nil || d.Name != d.Stored.Storage.String() || c.Taken(definition) {
		return nil
	}
	for _, k := range d.Stored.Forms {
		for i := range k.Subresources {
			if s := &k.Subresources[i]; s.Kind.Kind != "" {
				s.Speaks = c.base.byKind[s.Kind]
			}
		}
		completeViews(k)
	}
	return d
}

// Taken tells whether a definition uses the resource or the kind of a built-in kind, served or
// not, by the names that it asks for or those that it was accepted under.
func (c *Catalog) Taken(definition schema.Tree) bool {
	spec := rules.Sub(definition, "spec")
	group := rules.Text(spec, "group")
	all := []schema.Tree{rules.Sub(spec, "names"), rules.Sub(definition, "status", "acceptedNames")}
	return c.base.has(group, func(k *schema.Kind) bool {
		return slices.ContainsFunc(all, func(names schema.Tree) bool {
			plural := rules.Text(names, "plural")
			return plural != "" && (plural == k.Resource || k.Storage == meta.GroupResource{Group: group, Resource: plural}) ||
				k.Kind == rules.Text(names, "kind")
		})
	})
}

// has tells whether it holds for a kind of a group, also for one that is switched off, has no path,
// or is only stored under that group.
func (e *edition) has(group string, holds func(k *schema.Kind) bool) bool {
	for _, k := range e.byKind {
		if (k.Group == group || k.Storage.Group == group) && holds(k) {
			return true
		}
	}
	return false
}

// validateDefined keeps definitions out of the groups of built-in kinds. One that is in such a
// group already may change, so that it can be deleted.
func (c *Catalog) validateDefined(obj, old schema.Tree, faults *schema.Faults) {
	group := rules.Text(rules.Sub(obj, "spec"), "group")
	if old == nil && group != "" && c.base.has(group, func(*schema.Kind) bool { return true }) {
		faults.Invalid("spec.group", group, "must not be a group of built-in kinds")
	}
}

// Opaque is a kind for stored objects of which nobody knows the definition.
func (c *Catalog) Opaque(storage meta.GroupResource) *schema.Kind { return c.compiler.Opaque(storage) }

// Define serves the kinds of a definition from now on, in the place of those that it had before.
func (c *Catalog) Define(d *custom.Definition) {
	c.change(func() {
		c.definitions[d.Name] = d
		for _, k := range d.Served {
			r := resource{k.Group, k.Version, k.Resource}
			if k.First = c.first[r]; k.First == nil {
				c.first[r] = k
			}
		}
	})
}

// Undefine ends what Define has begun.
func (c *Catalog) Undefine(name string) {
	c.change(func() { delete(c.definitions, name) })
}

// Defined is what a definition has made; nil if it is not in use.
func (c *Catalog) Defined(name string) *custom.Definition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.definitions[name]
}

// BuiltIn tells whether a group is one of built-in kinds.
func (c *Catalog) BuiltIn(group string) bool {
	return slices.ContainsFunc(c.base.kinds, func(k *schema.Kind) bool { return k.Group == group })
}

// Edition counts the changes of the catalogue.
func (c *Catalog) Edition() uint64 { return c.current.Load().number }

// Changed is closed when the catalogue changes after this call.
func (c *Catalog) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// change makes the next edition. Built-in kinds come first: no definition takes their place.
func (c *Catalog) change(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
	e := &edition{
		number: c.current.Load().number + 1,
		all:    slices.Clone(c.base.all), kinds: slices.Clone(c.base.kinds),
		byKind: maps.Clone(c.base.byKind), byResource: maps.Clone(c.base.byResource),
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
	slices.SortStableFunc(e.all, byPlace)
	slices.SortStableFunc(e.kinds, byPlace)
	c.current.Store(e)
	close(c.changed)
	c.changed = make(chan struct{})
}
