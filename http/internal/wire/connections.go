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

// Connections are the open connections. Their number is bounded in total and per client address. A
// connection is new until it has sent a whole request, then anonymous unless the request was
// authenticated.
//
// At a bound, a connection is evicted to admit another (eviction.go): the oldest new one, or an
// idle one. While few are new, idle anonymous ones are evicted first. Otherwise clients that send
// one request and hold their connections would leave new ones less time than a handshake takes.
type Connections struct {
	opts       Options
	limit      int // total
	reserve    int // part of limit for local clients
	perAddress int // per address, except local clients
	maxNew     int // connections without a whole request

	accepted, refused, evicted, acceptErrors, handshakeErrors atomic.Uint64

	scheduler *scheduler
	http2     *http2Server // nil: no HTTP/2
	// unknownStreams counts the HTTP/2 requests that are not authenticated yet.
	unknownStreams atomic.Int64
	certificates   certificates
	tls            atomic.Pointer[tls.Config] // last result of tlsConfig

	closed chan struct{} // closed by Close
	ending atomic.Bool   // set by End and Close: each connection closes after its next response

	mu         sync.Mutex // guards the fields below; locked before that of a Conn
	all        list.List  // of *Conn, oldest first
	newConns   list.List  // of *Conn, new ones, oldest first
	anonymous  list.List  // of *Conn, anonymous ones
	largeHeads list.List  // of *Conn reading a large head, oldest first
	byAddress  map[netip.Addr]*addressConns
	closing    bool
	empty      chan struct{} // closed when closing is set and no connection is open
}

type addressConns struct {
	open     int
	newConns list.List // of *Conn, new ones, oldest first
}

// connEntry holds a connection's list elements. Guarded by the mutex of Connections.
type connEntry struct {
	address                                                     netip.Addr
	local                                                       bool
	allElem, newElem, addressElem, anonymousElem, largeHeadElem *list.Element // nil: not in that list
}

// maxNewConns bounds the connections that have not sent a whole request: each takes memory for an
// unauthenticated client.
const maxNewConns = 16384

// New returns Connections without any connection.
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

// add admits a connection, evicting others if needed, or returns false.
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

// markRequestSeen moves a connection out of the new ones. known means it is authenticated.
func (r *Connections) markRequestSeen(c *Conn, known bool) {
	if c.stream != nil {
		c.stream.mux.markSeen(known)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &c.entry
	if p.allElem == nil {
		return // evicted
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

// addLargeHead reports whether a connection may read a large head. At the bound it evicts the
// oldest unauthenticated connection that reads one.
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

// shed evicts idle connections and reports whether there were any. The process is out of
// descriptors.
func (r *Connections) shed() bool {
	r.mu.Lock()
	victims := r.evictAny(nil)
	r.mu.Unlock()
	abortAll(victims)
	return len(victims) > 0
}

// End closes each connection after its next response, which announces it. Clients then reconnect
// elsewhere instead of sending a request to a closed connection.
func (r *Connections) End() {
	r.ending.Store(true)
	if r.http2 != nil {
		r.http2.end()
	}
}

func (r *Connections) isClosing() bool {
	select {
	case <-r.closed:
		return true
	default:
		return false
	}
}

// Close admits no more connections, closes idle ones, and leaves incomplete requests closeGrace to
// finish.
func (r *Connections) Close() {
	if r.http2 != nil {
		r.http2.end() // closes idle connections, which may take a moment; not under mu
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

// Wait waits for the last connection to close after Close. When ctx ends it aborts the rest.
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
