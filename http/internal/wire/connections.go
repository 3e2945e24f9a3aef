package wire

import (
	"container/list"
	"context"
	"crypto/tls"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
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

// fewNewDivisor is the part of all connections below which newcomers are few, and maxEvictionScan how
// many strangers are looked at, at once, for some who wait.
const (
	fewNewDivisor   = 8
	maxEvictionScan = 1024
)

// maxNewConns is how many connections may be open that have not sent a whole request: each of
// them takes memory, and nobody knows yet for whom.
const maxNewConns = 16384

// Options say how connections are served. All are required, but for TLS.
type Options struct {
	// MaxConnections are those that are open, MaxPerAddress those of one client that is not on this
	// machine.
	MaxConnections, MaxPerAddress int
	// HandshakeTimeout is for the handshake of TLS, ReadTimeout for one whole request, IdleTimeout for
	// the time between two, WriteTimeout for one write to a client.
	HandshakeTimeout, ReadTimeout, IdleTimeout, WriteTimeout time.Duration
	TLS                                                      *tls.Config // nil: no TLS
	Log                                                      *slog.Logger
	// NewHandler makes what answers the requests of a connection.
	NewHandler func(*Conn) Handler
}

// A Handler answers the requests of one connection, one after the other.
type Handler interface {
	// ServeRequest answers a request of which the head is read. Its body is read by conn.ReadBody.
	ServeRequest(ctx *fasthttp.RequestCtx)
	// RejectHead answers a request of which the head could not be read.
	RejectHead(ctx *fasthttp.RequestCtx, err error)
	// ReplaceUnwritable makes an answer that could not be written one that says so.
	ReplaceUnwritable(r *fasthttp.Response)
}

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

// makeRoom takes out who has to go for a newcomer, who gets in if ok.
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

// evictAny takes out whom others can do without.
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

// evictAnonymous takes some strangers out who wait for nothing.
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

// evictIdle takes some connections out on which nobody waits for an answer. They are several, for
// it looks at all of them.
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

// Stats count connections.
type Stats struct {
	Limit                         int    // how many may be open
	Open, New                     int    // that are open, and those of them that have not sent a whole request
	Refused, Evicted              uint64 // that were not let in, and that were closed to let others in
	AcceptErrors, HandshakeErrors uint64
}

// Stats are the counts as of now.
func (r *Connections) Stats() Stats {
	r.mu.Lock()
	open, fresh := r.all.Len(), r.newConns.Len()
	r.mu.Unlock()
	return Stats{
		Limit: r.limit, Open: open, New: fresh, Refused: r.refused.Load(), Evicted: r.evicted.Load(),
		AcceptErrors: r.acceptErrors.Load(), HandshakeErrors: r.handshakeErrors.Load(),
	}
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
