package authn

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// A Digest is the key of a Cache entry. Caches store digests rather than credentials.
type Digest [sha256.Size]byte

// DigestOf returns the digest of a credential and of all other inputs that determine the result.
func DigestOf(credential string, more ...string) Digest {
	if len(more) == 0 {
		return sha256.Sum256([]byte(credential))
	}
	h := sha256.New()
	for _, s := range append([]string{credential}, more...) {
		fmt.Fprintf(h, "%d:%s", len(s), s) // lengths make the encoding unambiguous
	}
	return Digest(h.Sum(nil))
}

// A Cache holds a limited number of results until they expire. It may evict entries earlier. It is
// safe for concurrent use.
type Cache[V any] struct {
	limit int
	now   func() time.Time

	mu        sync.RWMutex // guards the fields below
	entries   map[Digest]cacheEntry[V]
	lastSweep time.Time // last removal of expired entries
}

// sweepPeriod is the minimum time between removals of expired entries.
const sweepPeriod = time.Minute

type cacheEntry[V any] struct {
	value   V
	expires time.Time
}

// NewCache returns an empty cache for at most limit entries.
func NewCache[V any](limit int, now func() time.Time) *Cache[V] {
	return &Cache[V]{limit: limit, now: now, entries: map[Digest]cacheEntry[V]{}, lastSweep: now()}
}

// Get returns the result for a digest, or false if it is missing or expired.
func (c *Cache[V]) Get(d Digest) (V, bool) {
	c.mu.RLock()
	kept, ok := c.entries[d]
	c.mu.RUnlock()
	if !ok || !c.now().Before(kept.expires) {
		var none V
		return none, false
	}
	return kept.value, true
}

// Put stores a result until the given time.
func (c *Cache[V]) Put(d Digest, value V, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); len(c.entries) >= c.limit || now.Sub(c.lastSweep) >= sweepPeriod {
		c.evict(now)
	}
	c.entries[d] = cacheEntry[V]{value, until}
}

// evict removes expired entries. If the cache is still full, it also removes an arbitrary quarter
// of the remaining entries, so that evictions stay rare. The caller holds mu.
func (c *Cache[V]) evict(now time.Time) {
	c.lastSweep = now
	for d, kept := range c.entries {
		if !now.Before(kept.expires) {
			delete(c.entries, d)
		}
	}
	if len(c.entries) < c.limit {
		return
	}
	for d := range c.entries {
		if len(c.entries) <= c.limit-(c.limit+3)/4 {
			return
		}
		delete(c.entries, d)
	}
}
