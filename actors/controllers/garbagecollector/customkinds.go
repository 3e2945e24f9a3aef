package garbagecollector

import (
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxCustomKinds is the maximum number of recorded kinds. When it is reached, all of them are
// dropped. This is safe, because owners of unknown kinds are assumed to exist.
const maxCustomKinds = 10000

type customKinds struct {
	mu         sync.Mutex
	namespaced map[meta.GroupVersionKind]bool
}

// add records kinds. It clones their names, which would otherwise keep larger strings in memory.
// The kinds of deleted CRDs stay until the limit is reached.
func (c *customKinds) add(versions []*schema.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range versions {
		if c.namespaced == nil || len(c.namespaced) >= maxCustomKinds {
			c.namespaced = map[meta.GroupVersionKind]bool{}
		}
		c.namespaced[meta.GroupVersionKind{
			Group: strings.Clone(k.Group), Version: strings.Clone(k.Version), Kind: strings.Clone(k.Kind),
		}] = k.Namespaced
	}
}

func (c *customKinds) contain(gvk meta.GroupVersionKind, dependentNamespaced bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	namespaced, known := c.namespaced[gvk]
	return known && (dependentNamespaced || !namespaced)
}
