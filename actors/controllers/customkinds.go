package controllers

import (
	"strings"
	"sync"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// maxCustomKinds bounds the names of kinds that are remembered. Beyond it all are forgotten: an owner of an unknown kind
// counts as present, so that nothing is deleted by mistake.
const maxCustomKinds = 10000

// customKinds are the names of kinds that definitions have made, every version of each, with whether they are namespaced.
// Nothing else of them is kept.
type customKinds struct {
	mu         sync.Mutex
	namespaced map[meta.GroupVersionKind]bool
}

// add records kinds. At the bound the map begins anew: the kinds of deleted definitions would else stay for good, and
// definitions under ever new names would fill memory. Names are cloned, so that they do not keep a larger text alive.
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

// contain tells whether a kind is among them whose objects can own those of another kind, namespaced or not.
func (c *customKinds) contain(gvk meta.GroupVersionKind, dependentNamespaced bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	namespaced, known := c.namespaced[gvk]
	return known && (dependentNamespaced || !namespaced)
}
