package wire

import (
	"container/list"
	"context"
	"crypto/tls"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// Connections holds the open connections. They are limited in total and per principal. A connection
// is new until it has sent a complete request. It is then anonymous, unless the request was
// authenticated.
//
// At a limit, admitting a connection closes another (eviction.go): the oldest new connection, or an
// idle connection of the principal with the most connections. While few connections are new, idle
// anonymous connections are closed first. This gives new connections time for a handshake even if
// anonymous clients hold all connections.
type Connections struct {
	opts    Options
	limit   int // total
	reserve int // part of limit for local clients
	maxNew  int // maximum number of new connections

	accepted, refused, evicted, acceptErrors, handshakeErrors atomic.Uint64

	scheduler    *scheduler
	http2        *http2Server // nil without HTTP/2
	unknown      unknownStreams
	certificates certificates
	tls          atomic.Pointer[tls.Config] // last result of tlsConfig

	closed chan struct{} // closed by Close
	ending atomic.Bool   // set by End and Close: connections close after their next response

	mu         sync.Mutex           // guards the fields below; locked before that of a Conn
	all        list.List            // of *Conn, oldest first
	newConns   list.List            // of *Conn, new, oldest first
	anonymous  list.List            // of *Conn, anonymous
	largeHeads list.List            // of *Conn with a large head, oldest first
	owned      limits.Owners[*Conn] // in order of assignment
	closing    bool
	empty      chan struct{} // closed when closing is set and no connection is open
}

// A connEntry holds the positions of a connection in lists. The mutex of Connections guards it.
type connEntry struct {
	address                                                   netip.Addr
	local                                                     bool
	owner                                                     *limits.Principal // owner of ownedElem
	allElem, newElem, ownedElem, anonymousElem, largeHeadElem *list.Element     // nil if not in that list
}

// maxNewConns limits new connections, because they use memory before the client is authenticated.
const maxNewConns = 16384

// New returns a Connections without open connections.
func New(o Options) *Connections {
	if o.Ledger == nil {
		o.Ledger = limits.NewLedger(limits.Capacities{limits.Connections: int64(o.MaxConnections)})
	}
	r := &Connections{opts: o, limit: o.MaxConnections, closed: make(chan struct{}), scheduler: newScheduler(runtime.GOMAXPROCS(0))}
	r.maxNew = min(r.limit, maxNewConns)
	if r.limit >= 8 {
		r.reserve = min(max(r.limit/64, 1), 256)
	}
	r.owned, r.unknown.owned = limits.Owners[*Conn]{}, limits.Owners[*Conn]{}
	r.empty = make(chan struct{})
	if o.HTTP2MaxStreams > 0 && o.TLS != nil {
		r.http2 = newHTTP2Server(o)
		r.opts.TLS = o.TLS.Clone()
		r.opts.TLS.NextProtos = append([]string{protocolHTTP2}, o.TLS.NextProtos...)
	}
	return r
}

// add tries to admit a connection, and reports whether it did. It may evict other connections.
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
	r.own(c, c.principal)
}

func (r *Connections) own(c *Conn, by *limits.Principal) {
	by.Acquire(limits.Connections, 1)
	c.entry.owner, c.entry.ownedElem = by.Retain(), r.owned.Add(by, c)
}

func (r *Connections) disown(c *Conn) {
	p := &c.entry
	r.owned.Remove(p.owner, p.ownedElem)
	p.owner.Release(limits.Connections, 1)
	p.owner.Close()
	p.owner, p.ownedElem = nil, nil
}

// transfer assigns a connection to another principal. If the principal then exceeds its share,
// transfer closes another of its connections that handles no request, or returns a
// *limits.Rejection if there is none. The share does not apply if reserved is set.
func (r *Connections) transfer(c *Conn, to *limits.Principal, reserved bool) *limits.Rejection {
	r.mu.Lock()
	if c.entry.allElem == nil || c.entry.owner == to {
		r.mu.Unlock()
		return nil // evicted, or unchanged
	}
	r.disown(c)
	r.own(c, to)
	var victims []*Conn
	var rejection *limits.Rejection
	if !reserved && to.ExceedsShare(limits.Connections, 0) {
		if victims = r.evictOwned(nil, to, c); len(victims) == 0 {
			rejection = to.Reject(limits.Connections, 1)
		}
	}
	r.mu.Unlock()
	abortAll(victims)
	return rejection
}

// markRequestSeen removes a connection from the list of new connections. known reports whether the
// request was authenticated.
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

// addLargeHead tries to admit a connection for reading a large head, and reports whether it did. At
// the limit, it evicts the oldest unauthenticated connection that is reading one.
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
	r.disown(c)
	if r.closing && r.all.Len() == 0 {
		close(r.empty)
	}
}

// shed evicts idle connections when the process has run out of file descriptors.
func (r *Connections) shed() bool {
	r.mu.Lock()
	victims := r.evictAny(nil)
	r.mu.Unlock()
	abortAll(victims)
	return len(victims) > 0
}

// End makes each connection close after its next response. The response announces this, so that
// clients can connect to another server before any request fails.
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

// Close stops admitting connections and closes idle connections. Clients that are sending a request
// have closeGrace to complete it.
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

// Wait blocks until all connections have closed after Close. When ctx ends, it aborts the remaining
// connections.
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
