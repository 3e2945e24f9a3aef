package wire

import (
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/http/internal/limits"
)

// A scheduler decides which connections may use the processors. With Go's scheduler alone, a client
// with hundreds of connections would get hundreds of times the service of a client with one.
//
// A connection acquires a slot when it has input, and releases the slot when it waits. If no slot
// is free, the connection queues with the other connections of its client, and clients take turns.
// While several clients are active, no client may hold all slots, so that one is free for the next
// arrival. A slot that is held too long is revoked, because its holder is probably blocked.
type scheduler struct {
	mu      sync.Mutex // guards the fields below
	free    int        // free slots
	slots   []slot
	share   int                           // slots of a client while there are others
	clients map[*limits.Principal]*client // by principal, those with connections
	next    *client                       // next in the ring of waiting clients that may get a slot
	waiting int                           // connections
	latest  *client                       // client of the latest arrival
	mixed   time.Time                     // time of the last change of latest
	watched bool                          // the timer for long holds runs
	arrival arrivals
}

type slot struct {
	holder *Conn
	client *client // the client it counts for
	seen   bool    // on the timer's last run
}

// A client is a principal and its connections, which wait in arrival order.
type client struct {
	principal   *limits.Principal
	connections int
	held        int // number of slots
	first, last *Conn
	prev, next  *client // in the ring, or nil
}

// turn is the scheduling state of a connection. The scheduler's mutex guards it, except taken.
type turn struct {
	client *client       // nil after the connection has ended
	slot   int           // index + 1; 0: none
	next   *Conn         // in the client's queue
	ready  chan struct{} // signals the waiter; created on first use
	taken  atomic.Bool   // the connection runs as if it had a slot
}

const (
	// slotsPerProcessor is greater than one, because a holder may block briefly, for example on a
	// lock.
	slotsPerProcessor = 2
	// maxHold is how long a slot may be held while connections wait. The slot is revoked after at
	// most twice that time.
	maxHold = time.Millisecond
	// othersFor is how long the scheduler assumes that several clients are active, after
	// connections of two clients have arrived in succession.
	othersFor = 100 * time.Millisecond
)

func newScheduler(processors int) *scheduler {
	n := slotsPerProcessor * processors
	return &scheduler{free: n, slots: make([]slot, n), share: max(1, processors-1), clients: map[*limits.Principal]*client{}}
}

// assign moves a connection to a principal, or removes it if p is nil. A slot that the connection
// holds counts for the previous principal until it is released.
func (s *scheduler) assign(c *Conn, p *limits.Principal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(c)
	if p == nil {
		return
	}
	of := s.clients[p]
	if of == nil {
		of = &client{principal: p}
		s.clients[p] = of
	}
	of.connections++
	c.turn.client = of
}

func (s *scheduler) release(c *Conn) {
	of := c.turn.client
	if of == nil {
		return
	}
	c.turn.client = nil
	if of.connections--; of.connections == 0 {
		delete(s.clients, of.principal)
	}
}

func (s *scheduler) enter(c *Conn) {
	t := &c.turn
	s.mu.Lock()
	if s.latest != t.client {
		s.latest, s.mixed = t.client, time.Now()
	}
	if s.free > 0 && s.next == nil && s.mayHave(t.client) {
		s.give(c)
		s.mu.Unlock()
		return
	}
	if t.ready == nil {
		t.ready = make(chan struct{}, 1)
	}
	s.enqueue(c)
	if !s.watched {
		s.watched = true
		s.arrival.looked = time.Now()
		time.AfterFunc(maxHold, s.watch)
	}
	s.mu.Unlock()
	<-t.ready
}

func (s *scheduler) mayHave(c *client) bool {
	return c.held < s.share || time.Since(s.mixed) > othersFor
}

func (s *scheduler) give(c *Conn) {
	i := slices.IndexFunc(s.slots, func(s slot) bool { return s.holder == nil })
	s.slots[i] = slot{holder: c, client: c.turn.client}
	s.free--
	c.turn.slot = i + 1
	c.turn.taken.Store(true)
	c.turn.client.held++
}

// leave releases the connection's slot, if any. It is safe for concurrent use.
func (s *scheduler) leave(c *Conn) {
	if !c.turn.taken.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.turn.taken.Store(false)
	if c.turn.slot == 0 {
		return // revoked
	}
	s.vacate(c.turn.slot - 1)
	if s.next != nil && !s.lookForArrivals() {
		s.distribute()
	}
}

func (s *scheduler) vacate(i int) {
	left := &s.slots[i]
	left.holder.turn.slot = 0
	left.client.held--
	if left.client.first != nil {
		s.join(left.client)
	}
	*left = slot{}
	s.free++
}

func (s *scheduler) distribute() {
	for s.free > 0 && s.next != nil {
		of := s.next
		c := of.first
		of.first, c.turn.next = c.turn.next, nil
		s.waiting--
		s.give(c)
		if of.first != nil && s.mayHave(of) {
			s.next = of.next
		} else {
			s.part(of)
		}
		c.turn.ready <- struct{}{} // never blocks
	}
}

// watch revokes each slot that has had the same holder since watch last ran. While connections wait
// for slots, watch runs every maxHold.
func (s *scheduler) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.slots {
		switch h := &s.slots[i]; {
		case h.holder == nil:
		case !h.seen:
			h.seen = true
		case s.waiting > 0:
			s.vacate(i)
		}
	}
	if s.watched = s.waiting > 0; s.watched {
		time.AfterFunc(maxHold, s.watch)
	}
	s.arrival.looking = false // do not wait longer for the poll
	s.distribute()
}

func (s *scheduler) enqueue(c *Conn) {
	s.waiting++
	of := c.turn.client
	if of.first == nil {
		of.first = c
	} else {
		of.last.turn.next = c
	}
	of.last = c
	s.join(of)
}

// join appends a client with waiting connections to the ring of clients that take turns. It has no
// effect if the client may not have another slot.
func (s *scheduler) join(c *client) {
	switch {
	case c.first == nil || c.next != nil || !s.mayHave(c):
		return
	case s.next == nil:
		c.prev, c.next = c, c
		s.next = c
	default:
		c.prev, c.next = s.next.prev, s.next
		c.prev.next, c.next.prev = c, c
	}
}

func (s *scheduler) part(c *client) {
	if s.next == c {
		s.next = c.next
	}
	if s.next == c {
		s.next = nil // it was the only one
	}
	c.prev.next, c.next.prev = c.next, c.prev
	c.prev, c.next = nil, nil
}

// A scheduledConn is the connection below TLS. After input has arrived, Read waits for a slot,
// because input causes work such as decryption. While the handler runs, Read needs no slot, and the
// handler calls Pause when it waits.
type scheduledConn struct {
	net.Conn
	c *Conn
}

func (r scheduledConn) Read(b []byte) (int, error) {
	if !r.c.scheduled {
		return r.Conn.Read(b)
	}
	s := r.c.all.scheduler
	s.leave(r.c)
	n, err := r.Conn.Read(b)
	if n > 0 {
		s.enter(r.c)
	}
	return n, err
}

func (r scheduledConn) CloseWrite() error { return closeWrite(r.Conn) }

// Pause releases the slot when the handler begins to wait for anything but the client. The handler
// later continues without a slot, because little work is left.
func (c *Conn) Pause() { c.all.scheduler.leave(c) }
