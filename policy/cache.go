package policy

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Follower keeps up with the objects of one resource, in platform form.
type Follower interface {
	Resource() meta.GroupResource
	// Follow returns when it knows everything that there was, and goes on by itself until ctx ends.
	Follow(ctx context.Context, objects Objects) error
}

// A Cache is a Follower that keeps what parse makes of each object. Its zero value is of no use;
// many goroutines may use one.
type Cache[T any] struct {
	resource meta.GroupResource
	parse    func(*Object) T

	mu         sync.RWMutex // guards namespaces
	namespaces map[string][]cached[T]
}

type cached[T any] struct {
	name  string
	value T
}

// NewCache makes a Cache of a resource in platform form. What cannot be parsed is to become a value that
// says so.
func NewCache[T any](resource meta.GroupResource, parse func(*Object) T) *Cache[T] {
	return &Cache[T]{resource: resource, parse: parse, namespaces: map[string][]cached[T]{}}
}

// Resource implements Follower.
func (c *Cache[T]) Resource() meta.GroupResource { return c.resource }

// Follow implements Follower.
func (c *Cache[T]) Follow(ctx context.Context, objects Objects) error {
	return objects.Inform(ctx, c.resource, c.update)
}

// update takes in one change. There is one caller at a time.
func (c *Cache[T]) update(change Change) {
	now := cached[T]{name: change.Key.Name}
	if !change.Deleted {
		now.value = c.parse(change.Object)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.namespaces[change.Key.Namespace]
	i, found := find(list, now.name)
	switch {
	case !change.Deleted && found:
		list[i] = now
	case !change.Deleted:
		list = slices.Insert(list, i, now)
	case found:
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		delete(c.namespaces, change.Key.Namespace)
	} else {
		c.namespaces[change.Key.Namespace] = list
	}
}

func find[T any](list []cached[T], name string) (int, bool) {
	return slices.BinarySearchFunc(list, name, func(one cached[T], name string) int { return cmp.Compare(one.name, name) })
}

// Get is one value. namespace is "" where the resource has none.
func (c *Cache[T]) Get(namespace, name string) (value T, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := c.namespaces[namespace]
	if i, found := find(list, name); found {
		return list[i].value, true
	}
	return value, false
}

// Has tells whether there is any value in a namespace.
func (c *Cache[T]) Has(namespace string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.namespaces[namespace]) > 0
}

// Each calls do with the values of a namespace, in the order of their names, until it returns
// false. namespace is "" where the resource has none. do must not wait for anything, nor use the cache.
func (c *Cache[T]) Each(namespace string, do func(name string, value T) bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, one := range c.namespaces[namespace] {
		if !do(one.name, one.value) {
			return
		}
	}
}
