package wire

import (
	"sync"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// unknownStreams holds the active HTTP/2 requests of unknown users of all connections, each of
// which holds a head. If an address exceeds its share, its oldest request is evicted for a new one.
// So a client with many streams does not block others at the same address.
type unknownStreams struct {
	mu    sync.Mutex // guards owned and stream.unknown
	owned limits.Owners[*Conn]
}

// add counts a request and reports whether it may continue. Local clients may use the reserve.
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

// evict aborts the oldest request of a principal, and reports whether there was one.
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

// setKnown removes the request, because its user is known or it has ended. The principal is still
// that of its address.
func (c *Conn) setKnown() {
	u := &c.all.unknown
	u.mu.Lock()
	defer u.mu.Unlock()
	if c.stream.unknown != nil {
		u.removeLocked(c.principal, c)
	}
}
