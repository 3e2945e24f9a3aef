package policy

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
)

// A Follower watches the objects of one resource.
type Follower interface {
	Resource() meta.GroupResource
	// Follow returns once it has read all existing objects, and continues in the background until
	// ctx ends.
	Follow(ctx context.Context, objects Objects) error
}

// A Cache is a Follower that keeps a parsed value per object. It is safe for concurrent use. The
// zero value is not usable.
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

// NewCache returns an empty Cache. resource is in the platform naming profile. parse cannot return
// an error, so T must record the error for an invalid object.
func NewCache[T any](resource meta.GroupResource, parse func(*Object) T) *Cache[T] {
	return &Cache[T]{resource: resource, parse: parse, namespaces: map[string][]cached[T]{}}
}

func (c *Cache[T]) Resource() meta.GroupResource { return c.resource }

func (c *Cache[T]) Follow(ctx context.Context, objects Objects) error {
	return objects.Inform(ctx, c.resource, c.update)
}

// update applies one change. The informer serializes calls.
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

// Get returns the value of one object. namespace is empty for cluster-scoped resources.
func (c *Cache[T]) Get(namespace, name string) (value T, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := c.namespaces[namespace]
	if i, found := find(list, name); found {
		return list[i].value, true
	}
	return value, false
}

// Has reports whether a namespace contains any object.
func (c *Cache[T]) Has(namespace string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.namespaces[namespace]) > 0
}

// Each calls do with the values in a namespace, sorted by name, until do returns false. namespace
// is empty for cluster-scoped resources. The lock is held, so do must not block or use the cache.
func (c *Cache[T]) Each(namespace string, do func(name string, value T) bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, one := range c.namespaces[namespace] {
		if !do(one.name, one.value) {
			return
		}
	}
}
