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

// Connections are those that are open. Their number is limited in total and by the share of each
// principal. A connection is new until it has sent a whole request; then it is anonymous, unless that
// request came from a known user.
//
// When a limit is met, a connection is closed to admit another (eviction.go): the oldest new one, or
// an idle one. While few connections are new, idle anonymous ones are closed first: clients that send
// one request and then hold their connections would otherwise leave new ones less time than a
// handshake takes.
type Connections struct {
	opts    Options
	limit   int // of all
	reserve int // of limit, for clients on this machine
	maxNew  int // of those that have not sent a whole request

	accepted, refused, evicted, acceptErrors, handshakeErrors atomic.Uint64

	scheduler    *scheduler
	http2        *http2Server // nil: there is no HTTP/2
	unknown      unknownStreams
	certificates certificates
	tls          atomic.Pointer[tls.Config] // the latest of tlsConfig

	closed chan struct{} // closed by Close
	ending atomic.Bool   // set by End and Close: each connection closes after its next response

	mu         sync.Mutex                       // guards the rest; locked before that of a Conn
	all        list.List                        // of *Conn, oldest first
	newConns   list.List                        // of *Conn, the new ones among them, oldest first
	anonymous  list.List                        // of *Conn, the anonymous ones among them
	largeHeads list.List                        // of *Conn, those that read a large head, oldest first
	owned      map[*limits.Principal]*list.List // of *Conn by their principal, in the order in which they came to it
	closing    bool
	empty      chan struct{} // closed when closing is set and no connection is open
}

// connEntry is where a connection stands in the lists. The mutex of Connections guards it.
type connEntry struct {
	address                                                   netip.Addr
	local                                                     bool
	owner                                                     *limits.Principal // in whose list it is
	allElem, newElem, ownedElem, anonymousElem, largeHeadElem *list.Element     // nil: not in that list
}

// maxNewConns bounds the connections that have not sent a whole request: each takes memory for an
// unauthenticated client.
const maxNewConns = 16384

// New returns Connections without any connection.
func New(o Options) *Connections {
	if o.Ledger == nil {
		o.Ledger = limits.NewLedger(limits.Capacities{})
	}
	r := &Connections{opts: o, limit: o.MaxConnections, closed: make(chan struct{}), scheduler: newScheduler(runtime.GOMAXPROCS(0))}
	r.maxNew = min(r.limit, maxNewConns)
	if r.limit >= 8 {
		r.reserve = min(max(r.limit/64, 1), 256)
	}
	r.owned = map[*limits.Principal]*list.List{}
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
	r.own(c, c.principal)
}

// own makes a connection one of a principal.
func (r *Connections) own(c *Conn, by *limits.Principal) {
	conns := r.owned[by]
	if conns == nil {
		conns = list.New()
		r.owned[by] = conns
	}
	by.Acquire(limits.Connections, 1)
	c.entry.owner, c.entry.ownedElem = by.Retain(), conns.PushBack(c)
}

// disown takes a connection from its principal.
func (r *Connections) disown(c *Conn) {
	p := &c.entry
	conns := r.owned[p.owner]
	if conns.Remove(p.ownedElem); conns.Len() == 0 {
		delete(r.owned, p.owner)
	}
	p.owner.Release(limits.Connections, 1)
	p.owner.Close()
	p.owner, p.ownedElem = nil, nil
}

// transfer gives a connection to the principal of the user who has authenticated on it. If the
// principal exceeds its share, another one of its connections is closed that is not answering a
// request; the *limits.Rejection says that there is none. reserved lifts the share.
func (r *Connections) transfer(c *Conn, to *limits.Principal, reserved bool) *limits.Rejection {
	r.mu.Lock()
	if c.entry.allElem == nil || c.entry.owner == to {
		r.mu.Unlock()
		return nil // it has been evicted
	}
	r.disown(c)
	r.own(c, to)
	var victims []*Conn
	var rejection *limits.Rejection
	if !reserved && r.exceedsShare(to, 0) {
		if victims = r.evictOwned(nil, to, c); len(victims) == 0 {
			rejection = &limits.Rejection{
				Resource: limits.Connections, Principal: to.String(), Held: to.Held(limits.Connections) - 1,
				Used: int64(r.all.Len()), Capacity: int64(r.limit),
			}
		}
	}
	r.mu.Unlock()
	abortAll(victims)
	return rejection
}

// exceedsShare reports whether a principal would hold more connections than may still be opened, if
// more were added.
func (r *Connections) exceedsShare(p *limits.Principal, more int) bool {
	held := int(p.Held(limits.Connections)) + more
	return held > 1 && held > r.limit-r.all.Len()-more
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
