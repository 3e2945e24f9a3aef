package http

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
)

// connections are those that are open. They are bounded in total and by the address of the
// client, and so are the newcomers among them: those that have not sent a whole request. Where a
// bound is met, the oldest newcomer makes room, and in total also who waits for nothing: before
// any newcomer, if these are few, a stranger, which is who has sent a request and is not known.
// Else strangers who wait would leave newcomers a door that is too narrow for a handshake.
type connections struct {
	limit      int // of all
	reserve    int // of limit, for clients on this machine
	perAddress int // of one address; those on this machine have none
	maxNew     int // of those that have not sent a whole request

	refused, evicted atomic.Uint64

	mu         sync.Mutex // guards the rest; locked before that of a conn
	all        list.List  // of *conn, oldest first
	newConns   list.List  // of *conn, the newcomers among them, oldest first
	anonymous  list.List  // of *conn, the strangers among them
	largeHeads list.List  // of *conn, those that read a large head, oldest first
	byAddress  map[netip.Addr]*addressConns
	closing    bool
	empty      chan struct{} // closed when closing is set and nothing is open
}

// A share is what one address has of the connections.
type addressConns struct {
	open     int
	newConns list.List // of *conn, its newcomers, oldest first
}

// A place is where a connection stands among all. The lock of connections guards it.
type connEntry struct {
	address                                                     netip.Addr
	local                                                       bool
	allElem, newElem, addressElem, anonymousElem, largeHeadElem *list.Element // nil: not in that list
}

// fewNewDivisor is the part of all connections below which newcomers are few, and maxEvictionScan how
// many strangers are looked at, at once, for some who wait.
const (
	fewNewDivisor   = 8
	maxEvictionScan = 1024
)

// maxNewConns is how many connections may be open that have not sent a whole request: each of
// them takes memory, and nobody knows yet for whom.
const maxNewConns = 16384

func (r *connections) init(limit, each int) {
	r.limit, r.perAddress = limit, each
	if each == 0 {
		r.perAddress = limit / 2
	}
	r.maxNew = min(limit, maxNewConns)
	r.reserve = min(max(limit/64, 1), 256)
	if limit < 8 {
		r.reserve = 0
	}
	r.byAddress = map[netip.Addr]*addressConns{}
	r.empty = make(chan struct{})
}

// add lets a connection in, or tells that it may not come in.
func (r *connections) add(c *conn) bool {
	r.mu.Lock()
	victims, ok := r.makeRoom(c)
	if ok {
		r.insert(c)
	} else {
		r.refused.Add(1)
	}
	r.mu.Unlock()
	abortAll(victims)
	return ok
}

func abortAll(victims []*conn) {
	for _, v := range victims {
		v.abort()
	}
}

// makeRoom takes out who has to go for a newcomer, who gets in if ok.
func (r *connections) makeRoom(c *conn) (victims []*conn, ok bool) {
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

// evictAny takes out whom others can do without.
func (r *connections) evictAny(victims []*conn) []*conn {
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

// evictAnonymous takes some strangers out who wait for nothing.
func (r *connections) evictAnonymous(victims []*conn) []*conn {
	most := len(victims) + r.limit/64 + 1
	for looks := min(r.anonymous.Len(), maxEvictionScan); looks > 0 && len(victims) < most; looks-- {
		e := r.anonymous.Front()
		if c := e.Value.(*conn); c.evictable() {
			victims = r.evict(victims, c.entry.allElem)
		} else {
			r.anonymous.MoveToBack(e)
		}
	}
	return victims
}

// evict takes one connection out.
func (r *connections) evict(victims []*conn, e *list.Element) []*conn {
	c := e.Value.(*conn)
	r.removeLocked(c)
	r.evicted.Add(1)
	return append(victims, c)
}

// evictIdle takes some connections out on which nobody waits for an answer. They are several, for
// it looks at all of them.
func (r *connections) evictIdle(victims []*conn) []*conn {
	most := len(victims) + r.limit/64 + 1
	for e := r.all.Front(); e != nil && len(victims) < most; {
		next := e.Next()
		if e.Value.(*conn).evictable() {
			victims = r.evict(victims, e)
		}
		e = next
	}
	return victims
}

func (r *connections) insert(c *conn) {
	p := &c.entry
	p.allElem, p.newElem = r.all.PushBack(c), r.newConns.PushBack(c)
	if p.local {
		return
	}
	s := r.byAddress[p.address]
	if s == nil {
		s = &addressConns{}
		r.byAddress[p.address] = s
	}
	s.open++
	p.addressElem = s.newConns.PushBack(c)
}

// markRequestSeen notes that a connection is no newcomer any more, and whether its client is known.
func (r *connections) markRequestSeen(c *conn, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &c.entry
	if p.allElem == nil {
		return // it has been taken out
	}
	r.removeNewLocked(c)
	switch {
	case known && p.anonymousElem != nil:
		r.anonymous.Remove(p.anonymousElem)
		p.anonymousElem = nil
	case !known && p.anonymousElem == nil:
		p.anonymousElem = r.anonymous.PushBack(c)
	}
}

// addLargeHead notes that a connection reads a large head, if it may. The oldest one that does makes
// room, unless its client is known.
func (r *connections) addLargeHead(c *conn) bool {
	r.mu.Lock()
	var victims []*conn
	for e := r.largeHeads.Front(); e != nil && r.largeHeads.Len() >= maxLargeHeads && !c.entry.local; e = e.Next() {
		if v := e.Value.(*conn); !v.authenticated.Load() {
			victims = r.evict(victims, v.entry.allElem)
			break
		}
	}
	ok := c.entry.allElem != nil && (r.largeHeads.Len() < maxLargeHeads || c.entry.local)
	if ok {
		c.entry.largeHeadElem = r.largeHeads.PushBack(c)
	}
	r.mu.Unlock()
	abortAll(victims)
	return ok
}

// removeLargeHead notes that it does so no more.
func (r *connections) removeLargeHead(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLargeHeadLocked(c)
}

func (r *connections) removeLargeHeadLocked(c *conn) {
	if p := &c.entry; p.largeHeadElem != nil {
		r.largeHeads.Remove(p.largeHeadElem)
		p.largeHeadElem = nil
	}
}

func (r *connections) removeNewLocked(c *conn) {
	p := &c.entry
	if p.newElem != nil {
		r.newConns.Remove(p.newElem)
		p.newElem = nil
	}
	if p.addressElem != nil {
		r.byAddress[p.address].newConns.Remove(p.addressElem)
		p.addressElem = nil
	}
}

// remove forgets a connection that is closed.
func (r *connections) remove(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLocked(c)
}

func (r *connections) removeLocked(c *conn) {
	p := &c.entry
	if p.allElem == nil {
		return
	}
	r.removeNewLocked(c)
	r.removeLargeHeadLocked(c)
	if p.anonymousElem != nil {
		r.anonymous.Remove(p.anonymousElem)
		p.anonymousElem = nil
	}
	r.all.Remove(p.allElem)
	p.allElem = nil
	if s := r.byAddress[p.address]; s != nil && !p.local {
		if s.open--; s.open == 0 {
			delete(r.byAddress, p.address)
		}
	}
	if r.closing && r.all.Len() == 0 {
		close(r.empty)
	}
}

// shed closes a connection that others can do without, if there is one, for the process has no
// descriptors left.
func (r *connections) shed() bool {
	r.mu.Lock()
	victims := r.evictAny(nil)
	r.mu.Unlock()
	abortAll(victims)
	return len(victims) > 0
}

// count is how many are open, and how many of them are newcomers.
func (r *connections) count() (open, newcomers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Len(), r.newConns.Len()
}

// close lets nobody in any more, closes who waits, and hurries who has not sent all of a request.
func (r *connections) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return
	}
	r.closing = true
	if r.all.Len() == 0 {
		close(r.empty)
	}
	for e := r.all.Front(); e != nil; e = e.Next() {
		e.Value.(*conn).beginClose()
	}
}

// wait waits after close until the last connection has gone. At the end of ctx it closes those
// that are left.
func (r *connections) wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	var left []*conn
	for e := r.all.Front(); e != nil; e = e.Next() {
		left = append(left, e.Value.(*conn))
	}
	r.mu.Unlock()
	abortAll(left)
	return ctx.Err()
}
