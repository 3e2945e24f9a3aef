package tree

import "maps"

// A CopyOnWrite is an object that is copied on the first change.
//
// Trees are shared with readers and never written to. A walk that may have to change one cannot know that
// beforehand, and mostly changes nothing; then it takes no memory, and the result is the same tree by
// address (SameRef), which later stages use to tell that nothing has changed.
//
// The copy is one level deep: a walk that changes spec.size copies the object and its spec, each with a
// CopyOnWrite of its own, and shares all else.
type CopyOnWrite struct {
	From   Tree // is never written to
	copied Tree // nil while nothing has changed
}

// Set gives a key a value. The caller asks only if the value differs, for an equal one costs the copy too.
func (c *CopyOnWrite) Set(key string, v any) {
	c.change()
	c.copied[key] = v
}

// Drop removes a key.
func (c *CopyOnWrite) Drop(key string) {
	c.change()
	delete(c.copied, key)
}

// Copy is the changed object, which the caller may write to; nil while nothing has changed.
func (c *CopyOnWrite) Copy() Tree { return c.copied }

// Result is the changed object, or the one it began with.
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
