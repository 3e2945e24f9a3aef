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
	limit     int // of all
	reserve   int // of limit, for clients on this machine
	each      int // of one address; those on this machine have none
	newcomers int // of those that have not sent a whole request

	refused, expelled atomic.Uint64

	mu      sync.Mutex // guards the rest; locked before that of a conn
	all     list.List  // of *conn, oldest first
	fresh   list.List  // of *conn, the newcomers among them, oldest first
	strange list.List  // of *conn, the strangers among them
	wide    list.List  // of *conn, those that read a large head, oldest first
	shares  map[netip.Addr]*share
	closing bool
	empty   chan struct{} // closed when closing is set and nothing is open
}

// A share is what one address has of the connections.
type share struct {
	open  int
	fresh list.List // of *conn, its newcomers, oldest first
}

// A place is where a connection stands among all. The lock of connections guards it.
type place struct {
	address                        netip.Addr
	local                          bool
	all, fresh, own, strange, wide *list.Element // nil: not in that list
}

// fewNewcomers is the part of all connections below which newcomers are few, and mostLooks how
// many strangers are looked at, at once, for some who wait.
const (
	fewNewcomers = 8
	mostLooks    = 1024
)

// maxNewcomers is how many connections may be open that have not sent a whole request: each of
// them takes memory, and nobody knows yet for whom.
const maxNewcomers = 16384

func (r *connections) init(limit, each int) {
	r.limit, r.each = limit, each
	if each == 0 {
		r.each = limit / 2
	}
	r.newcomers = min(limit, maxNewcomers)
	r.reserve = min(max(limit/64, 1), 256)
	if limit < 8 {
		r.reserve = 0
	}
	r.shares = map[netip.Addr]*share{}
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
	expel(victims)
	return ok
}

func expel(victims []*conn) {
	for _, v := range victims {
		v.sever()
	}
}

// makeRoom takes out who has to go for a newcomer, who gets in if ok.
func (r *connections) makeRoom(c *conn) (victims []*conn, ok bool) {
	if r.closing {
		return nil, false
	}
	if s := r.shares[c.place.address]; s != nil && !c.place.local && s.open >= r.each {
		oldest := s.fresh.Front()
		if oldest == nil {
			return nil, false
		}
		victims = r.take(victims, oldest)
	}
	bound := r.limit
	if !c.place.local {
		bound -= r.reserve
	}
	if r.all.Len() >= bound || r.fresh.Len() >= r.newcomers {
		victims = r.takeAny(victims)
	}
	return victims, r.all.Len() < bound
}

// takeAny takes out whom others can do without.
func (r *connections) takeAny(victims []*conn) []*conn {
	before := len(victims)
	if r.fresh.Len() <= r.limit/fewNewcomers {
		victims = r.takeStrangers(victims)
	}
	if oldest := r.fresh.Front(); oldest != nil && len(victims) == before {
		victims = r.take(victims, oldest)
	}
	if len(victims) == before {
		victims = r.takeIdle(victims)
	}
	return victims
}

// takeStrangers takes some strangers out who wait for nothing.
func (r *connections) takeStrangers(victims []*conn) []*conn {
	most := len(victims) + r.limit/64 + 1
	for looks := min(r.strange.Len(), mostLooks); looks > 0 && len(victims) < most; looks-- {
		e := r.strange.Front()
		if c := e.Value.(*conn); c.waits() {
			victims = r.take(victims, c.place.all)
		} else {
			r.strange.MoveToBack(e)
		}
	}
	return victims
}

// take takes one connection out.
func (r *connections) take(victims []*conn, e *list.Element) []*conn {
	c := e.Value.(*conn)
	r.drop(c)
	r.expelled.Add(1)
	return append(victims, c)
}

// takeIdle takes some connections out on which nobody waits for an answer. They are several, for
// it looks at all of them.
func (r *connections) takeIdle(victims []*conn) []*conn {
	most := len(victims) + r.limit/64 + 1
	for e := r.all.Front(); e != nil && len(victims) < most; {
		next := e.Next()
		if e.Value.(*conn).waits() {
			victims = r.take(victims, e)
		}
		e = next
	}
	return victims
}

func (r *connections) insert(c *conn) {
	p := &c.place
	p.all, p.fresh = r.all.PushBack(c), r.fresh.PushBack(c)
	if p.local {
		return
	}
	s := r.shares[p.address]
	if s == nil {
		s = &share{}
		r.shares[p.address] = s
	}
	s.open++
	p.own = s.fresh.PushBack(c)
}

// settle notes that a connection is no newcomer any more, and whether its client is known.
func (r *connections) settle(c *conn, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &c.place
	if p.all == nil {
		return // it has been taken out
	}
	r.unfresh(c)
	switch {
	case known && p.strange != nil:
		r.strange.Remove(p.strange)
		p.strange = nil
	case !known && p.strange == nil:
		p.strange = r.strange.PushBack(c)
	}
}

// widen notes that a connection reads a large head, if it may. The oldest one that does makes
// room, unless its client is known.
func (r *connections) widen(c *conn) bool {
	r.mu.Lock()
	var victims []*conn
	for e := r.wide.Front(); e != nil && r.wide.Len() >= maxWide && !c.place.local; e = e.Next() {
		if v := e.Value.(*conn); !v.known.Load() {
			victims = r.take(victims, v.place.all)
			break
		}
	}
	ok := c.place.all != nil && (r.wide.Len() < maxWide || c.place.local)
	if ok {
		c.place.wide = r.wide.PushBack(c)
	}
	r.mu.Unlock()
	expel(victims)
	return ok
}

// narrow notes that it does so no more.
func (r *connections) narrow(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unwide(c)
}

func (r *connections) unwide(c *conn) {
	if p := &c.place; p.wide != nil {
		r.wide.Remove(p.wide)
		p.wide = nil
	}
}

func (r *connections) unfresh(c *conn) {
	p := &c.place
	if p.fresh != nil {
		r.fresh.Remove(p.fresh)
		p.fresh = nil
	}
	if p.own != nil {
		r.shares[p.address].fresh.Remove(p.own)
		p.own = nil
	}
}

// remove forgets a connection that is closed.
func (r *connections) remove(c *conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(c)
}

func (r *connections) drop(c *conn) {
	p := &c.place
	if p.all == nil {
		return
	}
	r.unfresh(c)
	r.unwide(c)
	if p.strange != nil {
		r.strange.Remove(p.strange)
		p.strange = nil
	}
	r.all.Remove(p.all)
	p.all = nil
	if s := r.shares[p.address]; s != nil && !p.local {
		if s.open--; s.open == 0 {
			delete(r.shares, p.address)
		}
	}
	if r.closing && r.all.Len() == 0 {
		close(r.empty)
	}
}

// yield closes a connection that others can do without, if there is one, for the process has no
// descriptors left.
func (r *connections) yield() bool {
	r.mu.Lock()
	victims := r.takeAny(nil)
	r.mu.Unlock()
	expel(victims)
	return len(victims) > 0
}

// count is how many are open, and how many of them are newcomers.
func (r *connections) count() (open, newcomers int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all.Len(), r.fresh.Len()
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
		e.Value.(*conn).hurry()
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
	expel(left)
	return ctx.Err()
}
