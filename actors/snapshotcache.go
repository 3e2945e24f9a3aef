package actors

import (
	"sync"
	"time"
)

// snapshotCache keeps snapshots for continued lists, limited by age and count.
type snapshotCache struct {
	mu        sync.Mutex
	byVersion map[uint64]cachedSnapshot
}

type cachedSnapshot struct {
	snapshot *snapshot
	addedAt  time.Time
}

const maxCachedSnapshots = 256

func (c *snapshotCache) put(version uint64, s *snapshot, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byVersion == nil {
		c.byVersion = make(map[uint64]cachedSnapshot)
	}
	if _, in := c.byVersion[version]; !in && len(c.byVersion) >= maxCachedSnapshots {
		c.dropOldest()
	}
	c.byVersion[version] = cachedSnapshot{s, now}
}

func (c *snapshotCache) dropOldest() {
	var oldest uint64
	for version := range c.byVersion {
		if oldest == 0 || version < oldest {
			oldest = version
		}
	}
	delete(c.byVersion, oldest)
}

func (c *snapshotCache) get(version uint64) *snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byVersion[version].snapshot
}

// dropBelow drops cached snapshots that are older than the history. Newer snapshots share their
// objects with the index or the history, whose memory is limited. Older ones would keep objects in
// memory beyond any limit.
func (c *snapshotCache) dropBelow(floor uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for version := range c.byVersion {
		if version < floor {
			delete(c.byVersion, version)
		}
	}
}

func (c *snapshotCache) expire(before time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for version, cached := range c.byVersion {
		if cached.addedAt.Before(before) {
			delete(c.byVersion, version)
		}
	}
}

func (c *snapshotCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.byVersion)
}
