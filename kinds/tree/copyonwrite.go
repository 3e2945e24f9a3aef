package tree

import "maps"

// A CopyOnWrite is an object that is copied on its first change. A traversal that changes nothing
// allocates nothing and returns the same tree, which callers recognize by address (SameRef).
//
// The copy is one level deep. To change spec.size, the object and its spec each need a CopyOnWrite.
type CopyOnWrite struct {
	From   Tree // never written to
	copied Tree // nil until the first change
}

// Set sets a field. It copies the object even if the field already has this value, so callers
// should compare the values first.
func (c *CopyOnWrite) Set(key string, v any) {
	c.change()
	c.copied[key] = v
}

// Drop removes a field.
func (c *CopyOnWrite) Drop(key string) {
	c.change()
	delete(c.copied, key)
}

// Copy returns the changed copy, which the caller may modify, or nil if nothing has changed.
func (c *CopyOnWrite) Copy() Tree { return c.copied }

// Result returns the changed object, or From if nothing has changed.
func (c *CopyOnWrite) Result() Tree {
	if c.copied != nil {
		return c.copied
	}
	return c.From
}

func (c *CopyOnWrite) change() {
	if c.copied == nil {
		c.copied = maps.Clone(c.From)
	}
}
