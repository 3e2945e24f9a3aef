package wire

import (
	"container/list"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// While new connections use at most 1/fewNewDivisor of the limit, idle anonymous connections are
// evicted first. An eviction examines at most maxEvictionScan of these.
const (
	fewNewDivisor   = 8
	maxEvictionScan = 1024
)

// makeRoom reports whether a new connection is admitted, and returns the connections that the
// caller must abort.
func (r *Connections) makeRoom(c *Conn) (victims []*Conn, ok bool) {
	if r.closing {
		return nil, false
	}
	if c.principal.ExceedsShare(limits.Connections, 1) {
		if victims = r.evictOwned(victims, c.principal, nil); len(victims) == 0 {
			return nil, false
		}
	}
	bound := r.limit
	if !c.entry.local {
		bound -= r.reserve
	}
	if r.all.Len() >= bound || r.newConns.Len() >= r.maxNew {
		victims = r.evictAny(victims)
	}
	return victims, r.all.Len() < bound
}

// evictAny evicts one or more connections: idle anonymous connections, the oldest new connection,
// or an idle connection of the principal with the most connections.
func (r *Connections) evictAny(victims []*Conn) []*Conn {
	before := len(victims)
	if r.newConns.Len() <= r.limit/fewNewDivisor {
		victims = r.evictAnonymous(victims)
	}
	if oldest := r.newConns.Front(); oldest != nil && len(victims) == before {
		victims = r.evict(victims, oldest)
	}
	if len(victims) == before {
		victims = r.evictIdle(victims)
	}
	return victims
}

func (r *Connections) evictAnonymous(victims []*Conn) []*Conn {
	most := len(victims) + r.limit/64 + 1
	for looks := min(r.anonymous.Len(), maxEvictionScan); looks > 0 && len(victims) < most; looks-- {
		e := r.anonymous.Front()
		if c := e.Value.(*Conn); c.evictable() {
			victims = r.evict(victims, c.entry.allElem)
		} else {
			r.anonymous.MoveToBack(e)
		}
	}
	return victims
}

func (r *Connections) evictOwned(victims []*Conn, of *limits.Principal, keep *Conn) []*Conn {
	oldest := r.owned.Oldest(of, func(c *Conn) bool { return c != keep && (c.entry.newElem != nil || c.evictable()) })
	if oldest == nil {
		return victims
	}
	return r.evict(victims, oldest)
}

func (r *Connections) evict(victims []*Conn, e *list.Element) []*Conn {
	c := e.Value.(*Conn)
	r.removeLocked(c)
	r.evicted.Add(1)
	return append(victims, c)
}

func (r *Connections) evictIdle(victims []*Conn) []*Conn {
	if _, oldest := r.owned.OldestOfLargest(limits.Connections, 0, (*Conn).evictable); oldest != nil {
		return r.evict(victims, oldest)
	}
	return victims
}
