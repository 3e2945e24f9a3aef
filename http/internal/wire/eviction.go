package wire

import "container/list"

// fewNewDivisor is the part of all connections below which new ones are few, and maxEvictionScan how
// many anonymous connections are looked at, at once, for some that are idle.
const (
	fewNewDivisor   = 8
	maxEvictionScan = 1024
)

// makeRoom takes out what has to go for a new connection, which gets in if ok.
func (r *Connections) makeRoom(c *Conn) (victims []*Conn, ok bool) {
	if r.closing {
		return nil, false
	}
	if s := r.byAddress[c.entry.address]; s != nil && !c.entry.local && s.open >= r.perAddress {
		oldest := s.newConns.Front()
		if oldest == nil {
			return nil, false
		}
		victims = r.evict(victims, oldest)
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

// evictAny takes out one connection, or several, none of which is answering a request.
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

// evictAnonymous takes out some anonymous connections that are not answering a request.
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

// evict takes one connection out.
func (r *Connections) evict(victims []*Conn, e *list.Element) []*Conn {
	c := e.Value.(*Conn)
	r.removeLocked(c)
	r.evicted.Add(1)
	return append(victims, c)
}

// evictIdle takes out some connections that are not answering a request. It takes several at once,
// because it has to look at all of them.
func (r *Connections) evictIdle(victims []*Conn) []*Conn {
	most := len(victims) + r.limit/64 + 1
	for e := r.all.Front(); e != nil && len(victims) < most; {
		next := e.Next()
		if e.Value.(*Conn).evictable() {
			victims = r.evict(victims, e)
		}
		e = next
	}
	return victims
}
