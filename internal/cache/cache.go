// Package cache caches values that are costly to compute, within a bound.
package cache

import "sync"

// A Cache has two halves. Values enter the young one. When that is full it becomes the old one, and
// the previous old one is dropped. Get moves values back into the young one, so values in use stay
// without a list to maintain on each read. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	most int

	mu         sync.Mutex // guards the fields below
	young, old map[K]entry[V]
	size       int // of young
}

type entry[V any] struct {
	value V
	size  int
}

// New returns a Cache for a total size of most, in a unit of the caller.
func New[K comparable, V any](most int) *Cache[K, V] { return &Cache[K, V]{most: most} }

// Get returns the value of a key, and keeps it for longer.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.young[key]
	if !ok {
		if e, ok = c.old[key]; ok {
			c.put(key, e)
		}
	}
	return e.value, ok
}

// Put adds a value, unless it exceeds half of the bound.
func (c *Cache[K, V]) Put(key K, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, entry[V]{value, size})
}

func (c *Cache[K, V]) put(key K, e entry[V]) {
	if e.size > c.most/2 {
		return
	}
	if c.young == nil || c.size+e.size > c.most/2 {
		c.young, c.old, c.size = map[K]entry[V]{}, c.young, 0
	}
	if _, known := c.young[key]; !known {
		c.young[key] = e
		c.size += e.size
	}
}

// Len returns the number of values. One that was read recently may count twice.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.young) + len(c.old)
}
