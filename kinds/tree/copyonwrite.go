package tree

import "maps"

// A CopyOnWrite is an object that is copied on the first change. Trees are shared and never written
// to, and most walks change nothing. Such a walk takes no memory and returns the same tree, which
// later stages recognize by address (SameRef).
//
// The copy is one level deep: to change spec.size, the object and its spec each need a CopyOnWrite.
type CopyOnWrite struct {
	From   Tree // never written to
	copied Tree // nil until the first change
}

// Set sets a key. Callers skip equal values, which would cost a copy too.
func (c *CopyOnWrite) Set(key string, v any) {
	c.change()
	c.copied[key] = v
}

// Drop removes a key.
func (c *CopyOnWrite) Drop(key string) {
	c.change()
	delete(c.copied, key)
}

// Copy returns the changed object, which the caller may write to, or nil if nothing has changed.
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
