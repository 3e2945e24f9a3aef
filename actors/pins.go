package actors

import (
	"sync"
	"time"
)

// pins keep the snapshots from which chunked lists are being read, until they are too
// old or too many. Its mutex guards the map.
type pins struct {
	mu sync.Mutex
	by map[uint64]pin
}

type pin struct {
	snapshot *snapshot
	at       time.Time
}

const maxPins = 256

// keep holds a snapshot under the version that a list gave it.
func (p *pins) keep(version uint64, s *snapshot, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.by == nil {
		p.by = make(map[uint64]pin)
	}
	if _, in := p.by[version]; !in && len(p.by) >= maxPins {
		p.dropOldest()
	}
	p.by[version] = pin{s, now}
}

func (p *pins) dropOldest() {
	var oldest uint64
	for version := range p.by {
		if oldest == 0 || version < oldest {
			oldest = version
		}
	}
	delete(p.by, oldest)
}

func (p *pins) get(version uint64) *snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[version].snapshot
}

// outlive lets go of what is older than the history. A state that the history reaches back to
// holds no object alone; of one before it, nobody has counted what it keeps alive.
func (p *pins) outlive(floor uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for version := range p.by {
		if version < floor {
			delete(p.by, version)
		}
	}
}

// expire lets go of what was pinned before a time.
func (p *pins) expire(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for version, pin := range p.by {
		if pin.at.Before(before) {
			delete(p.by, version)
		}
	}
}
