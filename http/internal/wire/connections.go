package wire

import (
	"container/list"
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Connections are those that are open. They are bounded in total and by the address of the
// client, and so are the newcomers among them: those that have not sent a whole request. Where a
// bound is met, the oldest newcomer makes room, and in total also who waits for nothing: before
// any newcomer, if these are few, a stranger, which is who has sent a request and is not known.
// Else strangers who wait would leave newcomers a door that is too narrow for a handshake.
type Connections struct {
	opts       Options
	limit      int // of all
	reserve    int // of limit, for clients on this machine
	perAddress int // of one address; those on this machine have none
	maxNew     int // of those that have not sent a whole request

	refused, evicted, acceptErrors, handshakeErrors atomic.Uint64

	closed    chan struct{} // closed by close: nobody new is let in
	closeOnce sync.Once

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

// maxNewConns is how many connections may be open that have not sent a whole request: each of
// them takes memory, and nobody knows yet for whom.
const maxNewConns = 16384

// New makes the registry; serve lets connections in.
func New(o Options) *Connections {
	r := &Connections{opts: o, limit: o.MaxConnections, perAddress: o.MaxPerAddress, closed: make(chan struct{})}
	r.maxNew = min(r.limit, maxNewConns)
	if r.limit >= 8 {
		r.reserve = min(max(r.limit/64, 1), 256)
	}
	r.byAddress = map[netip.Addr]*addressConns{}
	r.empty = make(chan struct{})
	return r
}

// add lets a connection in, or tells that it may not come in.
func (r *Connections) add(c *Conn) bool {
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

func abortAll(victims []*Conn) {
	for _, v := range victims {
		v.abort()
	}
}

func (r *Connections) insert(c *Conn) {
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
func (r *Connections) markRequestSeen(c *Conn, known bool) {
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
func (r *Connections) addLargeHead(c *Conn) bool {
	r.mu.Lock()
	var victims []*Conn
	for e := r.largeHeads.Front(); e != nil && r.largeHeads.Len() >= maxLargeHeads && !c.entry.local; e = e.Next() {
		if v := e.Value.(*Conn); !v.authenticated.Load() {
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
func (r *Connections) removeLargeHead(c *Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLargeHeadLocked(c)
}

func (r *Connections) removeLargeHeadLocked(c *Conn) {
	if p := &c.entry; p.largeHeadElem != nil {
		r.largeHeads.Remove(p.largeHeadElem)
		p.largeHeadElem = nil
	}
}

func (r *Connections) removeNewLocked(c *Conn) {
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
func (r *Connections) remove(c *Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.removeLocked(c)
}

func (r *Connections) removeLocked(c *Conn) {
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
func (r *Connections) shed() bool {
	r.mu.Lock()
	victims := r.evictAny(nil)
	r.mu.Unlock()
	abortAll(victims)
	return len(victims) > 0
}

// isClosing tells that nobody new is let in.
func (r *Connections) isClosing() bool {
	select {
	case <-r.closed:
		return true
	default:
		return false
	}
}

// Close lets nobody in any more, closes who waits, and hurries who has not sent all of a request.
func (r *Connections) Close() {
	r.closeOnce.Do(func() { close(r.closed) })
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
		e.Value.(*Conn).beginClose()
	}
}

// Wait waits after close until the last connection has gone. At the end of ctx it closes those
// that are left.
func (r *Connections) Wait(ctx context.Context) error {
	select {
	case <-r.empty:
		return nil
	case <-ctx.Done():
	}
	r.mu.Lock()
	var left []*Conn
	for e := r.all.Front(); e != nil; e = e.Next() {
		left = append(left, e.Value.(*Conn))
	}
	r.mu.Unlock()
	abortAll(left)
	return ctx.Err()
}
