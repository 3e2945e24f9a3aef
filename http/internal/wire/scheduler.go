package wire

import (
	"hash/maphash"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A scheduler says which connections may use the processors now. Go's own scheduler takes goroutines as they come, so a
// client with hundreds of connections would be served hundreds of times before another one is served once, however few
// of its requests are in flight elsewhere.
//
// A connection takes a slot when something has come on it, and leaves it when it waits for more, or for something
// else. Those that find no slot wait in the queue of their client, and slots go to the clients in turn. While there are others, no client
// has a slot for every processor, so that one is free for who comes next. A slot that is kept
// for too long is taken away: who has it waits for something that is not known here.
type scheduler struct {
	mu      sync.Mutex // guards the rest
	free    int        // slots that nobody has
	slots   []slot
	share   int                // slots that a client may have while there are others
	clients map[uint64]*client // those with connections
	next    *client            // whose turn it is; the others that wait and may have a slot follow in a ring
	waiting int                // connections
	latest  *client            // the one that came last
	mixed   time.Time          // when another one came than before
	watched bool               // a timer looks after those that keep their slot
	arrival arrivals
}

// A slot is held by a connection, or by none.
type slot struct {
	holder *Conn
	client *client // whom it counts for
	seen   bool    // by the timer, when it last looked
}

// A client is a user, or an address from which nobody has been authenticated. Its connections wait in the order in which they came.
type client struct {
	id          uint64
	connections int
	held        int // slots
	first, last *Conn
	prev, next  *client // in the ring; nil: it is not there
}

// turn is what a connection has of the scheduler, which guards it, save for taken.
type turn struct {
	client *client       // whose connection it is; nil: it has ended
	slot   int           // 1 + its index; 0: none
	next   *Conn         // in the queue of the client
	ready  chan struct{} // tells who waits; made when it is first needed
	taken  atomic.Bool   // the connection goes on as if it had a slot
}

const (
	// slotsPerProcessor: more than one, since who has a slot may be waiting for a moment, such as for a lock.
	slotsPerProcessor = 2
	// maxHold is the time after which a slot is taken away, or at most twice as much, if somebody waits for it.
	maxHold = time.Millisecond
	// othersFor is how long there are others after one of them has come.
	othersFor = 100 * time.Millisecond
)

func newScheduler(processors int) *scheduler {
	n := slotsPerProcessor * processors
	return &scheduler{free: n, slots: make([]slot, n), share: max(1, processors-1), clients: map[uint64]*client{}}
}

// assign makes a connection that of a client; what it has of another one ends when it leaves its slot.
func (s *scheduler) assign(c *Conn, id uint64) {
	if old := c.turn.client; old != nil && old.id == id {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(c)
	of := s.clients[id]
	if of == nil {
		of = &client{id: id}
		s.clients[id] = of
	}
	of.connections++
	c.turn.client = of
}

// forget is for a connection that has ended.
func (s *scheduler) forget(c *Conn) {
	s.leave(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release(c)
}

func (s *scheduler) release(c *Conn) {
	of := c.turn.client
	if of == nil {
		return
	}
	c.turn.client = nil
	if of.connections--; of.connections == 0 {
		delete(s.clients, of.id)
	}
}

// enter waits for a slot.
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

// mayHave tells whether a client may have one slot more.
func (s *scheduler) mayHave(c *client) bool {
	return c.held < s.share || time.Since(s.mixed) > othersFor
}

// give takes a slot that is free for a connection. There are few of them.
func (s *scheduler) give(c *Conn) {
	i := slices.IndexFunc(s.slots, func(s slot) bool { return s.holder == nil })
	s.slots[i] = slot{holder: c, client: c.turn.client}
	s.free--
	c.turn.slot = i + 1
	c.turn.taken.Store(true)
	c.turn.client.held++
}

// leave gives the slot back, if the connection has one. Any goroutine may call it.
func (s *scheduler) leave(c *Conn) {
	if !c.turn.taken.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c.turn.taken.Store(false)
	if c.turn.slot == 0 {
		return // it was taken away
	}
	s.vacate(c.turn.slot - 1)
	if s.next != nil && !s.lookForArrivals() {
		s.distribute()
	}
}

// vacate takes a slot from its holder.
func (s *scheduler) vacate(i int) {
	left := &s.slots[i]
	left.holder.turn.slot = 0
	left.client.held--
	s.join(left.client)
	*left = slot{}
	s.free++
}

// distribute gives the slots that are free to those who wait.
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
		c.turn.ready <- struct{}{} // there is place
	}
}

// watch takes slots from those who have kept them since it last looked. It goes on while anybody waits.
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
	s.arrival.looking = false // nobody waits for it for so long
	s.distribute()
}

// enqueue puts a connection at the end of its client's queue.
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

// join puts a client that waits, and may have a slot, behind the others that do.
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

// part takes a client out of the ring.
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

// clientSeed makes the hashes that clients are told apart by. Two with one hash share a turn.
var clientSeed = maphash.MakeSeed()

// addressClient stands for who comes from an address and has not been authenticated.
func addressClient(e connEntry) uint64 {
	b := e.address.As16()
	return maphash.Bytes(clientSeed, b[:])
}

// userClient stands for a user, on all connections.
func userClient(name string) uint64 { return maphash.String(clientSeed, name) }

// A scheduledConn is a connection beneath TLS. Whatever its goroutine reads costs something to work on, so it waits for its slot
// when that has come. While the handler works, others may read, and the handler says itself when it waits.
type scheduledConn struct {
	net.Conn
	c *Conn
}

// Read implements io.Reader.
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

// CloseWrite is that of the connection, which a wrapper would hide.
func (r scheduledConn) CloseWrite() error { return closeWrite(r.Conn) }

// Pause tells that the handler begins to wait for something other than the client. It goes on without a slot then, since what
// is left to do mostly is little.
func (c *Conn) Pause() { c.all.scheduler.leave(c) }
