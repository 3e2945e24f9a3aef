package wire

import (
	"sync"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// unknownStreams holds all HTTP/2 requests whose users are not known yet. Each uses memory for its
// head. If an address exceeds its share, its oldest request is aborted to admit a new one, so that
// one client cannot block others at the same address.
type unknownStreams struct {
	mu    sync.Mutex // guards owned and stream.unknown
	owned limits.Owners[*Conn]
}

// add adds a request and reports whether it is admitted. Local clients may also use their reserved
// capacity.
func (u *unknownStreams) add(c *Conn) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	p := c.principal
	for p.TryAcquire(limits.Streams, 1, 1, false) != nil {
		if u.evict(p) {
			continue
		}
		if !c.entry.local || p.TryAcquire(limits.Streams, 1, 1, true) != nil {
			return false
		}
		break
	}
	c.stream.unknown = u.owned.Add(p, c)
	return true
}

func (u *unknownStreams) evict(of *limits.Principal) bool {
	e := u.owned.Oldest(of, func(*Conn) bool { return true })
	if e == nil {
		return false
	}
	c := e.Value.(*Conn)
	u.removeLocked(of, c)
	c.abort()
	c.all.evicted.Add(1)
	return true
}

func (u *unknownStreams) removeLocked(of *limits.Principal, c *Conn) {
	u.owned.Remove(of, c.stream.unknown)
	c.stream.unknown = nil
	of.Release(limits.Streams, 1)
}

// setKnown removes the request from unknownStreams, because its user is known or it has ended. Call
// it before the principal changes.
func (c *Conn) setKnown() {
	u := &c.all.unknown
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.stream.unknown != nil {
		u.removeLocked(c.principal, c)
	}
}
