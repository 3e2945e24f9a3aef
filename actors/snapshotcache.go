package actors

import (
	"sync"
	"time"
)

// snapshotCache keep the snapshots from which chunked lists are being read, until they are too
// old or too many. Its mutex guards the map.
type snapshotCache struct {
	mu        sync.Mutex
	byVersion map[uint64]cachedSnapshot
}

type cachedSnapshot struct {
	snapshot *snapshot
	addedAt  time.Time
}

const maxCachedSnapshots = 256

// put holds a snapshot under the version that a list gave it.
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

// dropBelow lets go of what is older than the history. A state that the history reaches back to
// holds no object alone; of one before it, nobody has counted what it keeps alive.
func (p *snapshotCache) dropBelow(floor uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for version := range p.byVersion {
		if version < floor {
			delete(p.byVersion, version)
		}
	}
}

// expire lets go of what was pinned before a time.
func (p *snapshotCache) expire(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for version, cached := range p.byVersion {
		if cached.addedAt.Before(before) {
			delete(p.byVersion, version)
		}
	}
}
