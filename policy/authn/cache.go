package authn

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"time"
)

// A Digest stands for a credential in a Cache, which so never holds the credential itself, or
// for any other question whose answer is worth keeping.
type Digest [sha256.Size]byte

// DigestOf is the digest of a credential, and of what else its answer depends on.
func DigestOf(credential string, more ...string) Digest {
	if len(more) == 0 {
		return sha256.Sum256([]byte(credential))
	}
	h := sha256.New()
	for _, s := range append([]string{credential}, more...) {
		fmt.Fprintf(h, "%d:%s", len(s), s) // with lengths, so that no two lists of texts give the same bytes
	}
	return Digest(h.Sum(nil))
}

// A Cache keeps answers, each until it expires, and a bounded number of them: an answer that was
// dropped is found out anew. Many goroutines
// may use it.
type Cache[V any] struct {
	limit int
	now   func() time.Time

	mu        sync.RWMutex // guards all below it
	entries   map[Digest]cacheEntry[V]
	lastSweep time.Time // when expired entries were last removed
}

// sweepPeriod is how long an expired answer may stay in memory.
const sweepPeriod = time.Minute

type cacheEntry[V any] struct {
	value   V
	expires time.Time
}

// NewCache makes a cache of at most limit answers.
func NewCache[V any](limit int, now func() time.Time) *Cache[V] {
	return &Cache[V]{limit: limit, now: now, entries: map[Digest]cacheEntry[V]{}, lastSweep: now()}
}

// Get is the answer about a credential, if there is one that has not expired.
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

// Put keeps an answer until the given time.
func (c *Cache[V]) Put(d Digest, value V, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); len(c.entries) >= c.limit || now.Sub(c.lastSweep) >= sweepPeriod {
		c.evict(now)
	}
	c.entries[d] = cacheEntry[V]{value, until}
}

// evict drops expired answers and, if the cache is still full, any quarter of the others, so that it
// is not called again soon. The caller holds mu.
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
