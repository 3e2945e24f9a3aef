package wire

import (
	"container/list"
	"sync"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// unknownStreams holds the active HTTP/2 requests of unknown users of all connections, each of
// which holds a head. If an address exceeds its share, its oldest request is evicted for a new one.
// So a client with many streams does not block others at the same address.
type unknownStreams struct {
	mu     sync.Mutex // guards oldest and stream.unknown
	oldest list.List  // of unknownStream
}

type unknownStream struct {
	conn      *Conn
	principal *limits.Principal
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
	c.stream.unknown = u.oldest.PushBack(unknownStream{c, p})
	return true
}

// evict aborts the oldest request of a principal, and reports whether there was one.
func (u *unknownStreams) evict(of *limits.Principal) bool {
	for e := u.oldest.Front(); e != nil; e = e.Next() {
		if s := e.Value.(unknownStream); s.principal == of {
			u.removeLocked(e)
			s.conn.abort()
			s.conn.all.evicted.Add(1)
			return true
		}
	}
	return false
}

func (u *unknownStreams) removeLocked(e *list.Element) {
	s := u.oldest.Remove(e).(unknownStream)
	s.conn.stream.unknown = nil
	s.principal.Release(limits.Streams, 1)
}

// setKnown removes the request, because its user is known or it has ended.
func (s *stream) setKnown() {
	u := &s.mux.conn.all.unknown
	u.mu.Lock()
	defer u.mu.Unlock()
	if s.unknown != nil {
		u.removeLocked(s.unknown)
	}
}
