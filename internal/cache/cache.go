// Package cache provides a bounded cache for expensive values.
package cache

import "sync"

// A Cache consists of two halves. New values enter the young half. When the young half is full, it
// becomes the old half, and the previous old half is dropped. Get moves a value to the young half,
// so that values in use stay cached. A Cache is safe for concurrent use.
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

// New returns an empty Cache. most is the maximum total size of its values, in the unit of Put.
func New[K comparable, V any](most int) *Cache[K, V] { return &Cache[K, V]{most: most} }

// Get returns the cached value of a key. Reading a value delays its eviction.
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

// Put adds a value. It ignores values larger than half of the maximum size.
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

// Len returns the number of cached values. A value counts twice if both halves contain it.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.young) + len(c.old)
}
