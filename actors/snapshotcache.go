package actors

import (
	"sync"
	"time"
)

// snapshotCache keeps the snapshots from which chunked lists are being read, until they are too old or
// too many. Its mutex guards the map.
type snapshotCache struct {
	mu        sync.Mutex
	byVersion map[uint64]cachedSnapshot
}

type cachedSnapshot struct {
	snapshot *snapshot
	addedAt  time.Time
}

const maxCachedSnapshots = 256

// put keeps a snapshot under the version of a list.
func (p *snapshotCache) put(version uint64, s *snapshot, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byVersion == nil {
		p.byVersion = make(map[uint64]cachedSnapshot)
	}
	if _, in := p.byVersion[version]; !in && len(p.byVersion) >= maxCachedSnapshots {
		p.dropOldest()
	}
	p.byVersion[version] = cachedSnapshot{s, now}
}

func (p *snapshotCache) dropOldest() {
	var oldest uint64
	for version := range p.byVersion {
		if oldest == 0 || version < oldest {
			oldest = version
		}
	}
	delete(p.byVersion, oldest)
}

func (p *snapshotCache) get(version uint64) *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.byVersion[version].snapshot
}

// dropBelow drops snapshots that are older than the history. The objects of younger ones are in the index
// or in the history anyway, and counted there; older snapshots would keep objects in memory that nothing
// counts.
func (p *snapshotCache) dropBelow(floor uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for version := range p.byVersion {
		if version < floor {
			delete(p.byVersion, version)
		}
	}
}

// expire drops snapshots that were put before a time.
func (p *snapshotCache) expire(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for version, cached := range p.byVersion {
		if cached.addedAt.Before(before) {
			delete(p.byVersion, version)
		}
	}
}
