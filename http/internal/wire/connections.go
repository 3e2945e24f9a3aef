package wire

import (
	"container/list"
	"context"
	"crypto/tls"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
)

// Connections are those that are open. Their number is bounded in total and by the address of the
// client. A connection is new until it has sent a whole request; then it is anonymous, unless that request
// came from a user who is known.
//
// Where a bound is met, a connection is closed to admit another (eviction.go): the oldest new one, or one that
// is idle. While few connections are new, anonymous ones that are idle are closed first: else clients that send
// one request and then hold their connections would leave new ones less time than a handshake takes.
type Connections struct {
	opts       Options
	limit      int // of all
	reserve    int // of limit, for clients on this machine
	perAddress int // of one address; those on this machine have none
	maxNew     int // of those that have not sent a whole request

	accepted, refused, evicted, acceptErrors, handshakeErrors atomic.Uint64

	scheduler *scheduler
	http2     *http2Server // nil: there is no HTTP/2
	// unknownStreams are the requests under way by HTTP/2 of which it is not known who asks.
	unknownStreams atomic.Int64
	certificates   certificates
	tls            atomic.Pointer[tls.Config] // the latest of tlsConfig

	closed chan struct{} // closed by Close: no connection is let in any more
	ending atomic.Bool   // set by End and Close: each connection ends with its next answer

	mu         sync.Mutex // guards the rest; locked before that of a Conn
	all        list.List  // of *Conn, oldest first
	newConns   list.List  // of *Conn, the new ones among them, oldest first
	anonymous  list.List  // of *Conn, the anonymous ones among them
	largeHeads list.List  // of *Conn, those that read a large head, oldest first
	byAddress  map[netip.Addr]*addressConns
	closing    bool
	empty      chan struct{} // closed when closing is set and nothing is open
}

// addressConns are the connections of one address.
type addressConns struct {
	open     int
	newConns list.List // of *Conn, the new ones, oldest first
}

// connEntry is where a connection stands in the lists. The mutex of Connections guards it.
type connEntry struct {
	address                                                     netip.Addr
	local                                                       bool
	allElem, newElem, addressElem, anonymousElem, largeHeadElem *list.Element // nil: not in that list
}

// maxNewConns is how many connections may be open that have not sent a whole request: each of
// them takes memory, for a client that has not been authenticated.
const maxNewConns = 16384

// New makes what serves connections, of which there are none yet.
func New(o Options) *Connections {
	r := &Connections{opts: o, limit: o.MaxConnections, perAddress: o.MaxPerAddress, closed: make(chan struct{}), scheduler: newScheduler(runtime.GOMAXPROCS(0))}
	r.maxNew = min(r.limit, maxNewConns)
	if r.limit >= 8 {
		r.reserve = min(max(r.limit/64, 1), 256)
	}
	r.byAddress = map[netip.Addr]*addressConns{}
	r.empty = make(chan struct{})
	if o.HTTP2MaxStreams > 0 && o.TLS != nil {
		r.http2 = newHTTP2Server(o)
		r.opts.TLS = o.TLS.Clone()
		r.opts.TLS.NextProtos = append([]string{protocolHTTP2}, o.TLS.NextProtos...)
	}
	return r
}

// add lets a connection in, or tells that it may not come in.
func (r *Connections) add(c *Conn) bool {
	r.mu.Lock()
	victims, ok := r.makeRoom(c)
	if ok {
		r.insert(c)
		r.accepted.Add(1)
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

// markRequestSeen notes that a connection is not new any more, and whether its client is known.
func (r *Connections) markRequestSeen(c *Conn, known bool) {
	if c.stream != nil {
		c.stream.mux.markSeen(known)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &c.entry
	if p.allElem == nil {
		return // it has been evicted
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

// addLargeHead notes that a connection reads a large head, if it may. The oldest one that does is
// closed in its favour, unless its client is authenticated.
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

// removeLargeHead notes that a connection has read its large head.
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

// shed closes an idle connection, if there is one: the process has no
// descriptors left.
func (r *Connections) shed() bool {
	r.mu.Lock()
	victims := r.evictAny(nil)
	r.mu.Unlock()
	abortAll(victims)
	return len(victims) > 0
}

// End lets each connection end with its next answer, which says so. A client on a connection that is in use so goes elsewhere without
// a request that meets a closed connection.
func (r *Connections) End() {
	r.ending.Store(true)
	if r.http2 != nil {
		r.http2.end()
	}
}

// isClosing tells that no connection is let in any more.
func (r *Connections) isClosing() bool {
	select {
	case <-r.closed:
		return true
	default:
		return false
	}
}

// Close lets no connection in any more, closes those that are idle, and gives those that have not sent
// all of a request a moment to do so.
func (r *Connections) Close() {
	if r.http2 != nil {
		r.http2.end() // closes those that are idle, which may take a moment, so nobody else waits for it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return
	}
	r.closing = true
	r.ending.Store(true)
	close(r.closed)
	r.scheduler.close()
	if r.all.Len() == 0 {
		close(r.empty)
	}
	for e := r.all.Front(); e != nil; e = e.Next() {
		e.Value.(*Conn).beginClose()
	}
}

// Wait waits after Close until the last connection has gone. At the end of ctx it closes those
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
