package wire

import (
	"hash/maphash"
	"net"
	"runtime"
	"sync"
	"time"
)

// A scheduler says which connections may use the processors now. Go's own scheduler takes goroutines as they come, so a
// client with hundreds of connections would be served hundreds of times before another one is served once, however few
// of its requests are in flight elsewhere.
//
// A connection takes a slot when something has come on it, and leaves it when it waits for more, or for something
// else. Those that find no slot wait in the queue of their client, and slots go to the clients in turn. A slot that is kept
// for too long is taken away: who has it waits for something that is not known here.
type scheduler struct {
	mu      sync.Mutex // guards the rest
	free    int        // slots that nobody has
	slots   []slot
	clients map[uint64]*clientQueue // those that wait
	first   *clientQueue            // whose turn it is; the others follow in a ring
	waiting int                     // connections
	watched bool                    // a timer looks after those that keep their slot
	arrival arrivals
	idle    []*clientQueue // to be used again
}

// A slot is held by a connection, or by none.
type slot struct {
	holder *Conn
	seen   bool // by the timer, when it last looked
}

// A clientQueue is the connections of one client that wait, in the order in which they came.
type clientQueue struct {
	client      uint64
	first, last *Conn
	prev, next  *clientQueue
}

// turn is what a connection has of the scheduler. Its goroutine owns taken; the scheduler guards the rest.
type turn struct {
	client uint64        // whose connection it is
	taken  bool          // the connection goes on as if it had a slot
	slot   int           // 1 + its index; 0: none
	next   *Conn         // in its queue
	ready  chan struct{} // tells who waits; made when it is first needed
}

const (
	// slotsPerProcessor: more than one, since who has a slot may be waiting for a moment, such as for a lock.
	slotsPerProcessor = 2
	// maxHold is the time after which a slot is taken away, or at most twice as much, if somebody waits for it.
	maxHold = time.Millisecond
	// maxIdleQueues bounds the queues that are kept to be used again.
	maxIdleQueues = 64
)

func newScheduler() *scheduler {
	n := slotsPerProcessor * runtime.GOMAXPROCS(0)
	return &scheduler{free: n, slots: make([]slot, n), clients: map[uint64]*clientQueue{}}
}

// enter waits for a slot.
func (s *scheduler) enter(c *Conn) {
	t := &c.turn
	t.taken = true
	s.mu.Lock()
	if s.free > 0 && s.waiting == 0 {
		s.free--
		s.give(c, s.unheld())
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

// unheld is the index of a slot that nobody has. There are few.
func (s *scheduler) unheld() int {
	for i := range s.slots {
		if s.slots[i].holder == nil {
			return i
		}
	}
	panic("wire: no slot is free") // free counts them
}

func (s *scheduler) give(c *Conn, i int) {
	s.slots[i] = slot{holder: c}
	c.turn.slot = i + 1
}

// leave gives the slot back, if the connection has one, to the next who waits.
func (s *scheduler) leave(c *Conn) {
	t := &c.turn
	if !t.taken {
		return
	}
	t.taken = false
	s.mu.Lock()
	var next *Conn
	if t.slot > 0 { // else it was taken away
		next = s.vacate(t.slot - 1)
	}
	s.mu.Unlock()
	if next != nil {
		next.turn.ready <- struct{}{}
	}
}

// vacate takes a slot from its holder. It goes to the next who waits, whom the caller has to tell.
func (s *scheduler) vacate(i int) *Conn {
	s.slots[i].holder.turn.slot = 0
	s.slots[i] = slot{}
	if s.waiting == 0 || s.lookForArrivals() {
		s.free++
		return nil
	}
	next := s.dequeue()
	s.give(next, i)
	return next
}

// distribute gives the slots that are free to those who wait.
func (s *scheduler) distribute() {
	var told []*Conn
	s.mu.Lock()
	s.arrival.looking, s.arrival.looked = false, time.Now()
	for s.free > 0 && s.waiting > 0 {
		s.free--
		c := s.dequeue()
		s.give(c, s.unheld())
		told = append(told, c)
	}
	s.mu.Unlock()
	for _, c := range told {
		c.turn.ready <- struct{}{}
	}
}

// watch takes slots from those who have kept them since it last looked. It goes on while anybody waits.
func (s *scheduler) watch() {
	s.mu.Lock()
	for i := range s.slots {
		switch h := &s.slots[i]; {
		case h.holder == nil:
		case !h.seen:
			h.seen = true
		case s.waiting > 0:
			h.holder.turn.slot = 0
			*h = slot{}
			s.free++
		}
	}
	if s.watched = s.waiting > 0; s.watched {
		time.AfterFunc(maxHold, s.watch)
	}
	s.mu.Unlock()
	s.distribute()
}

// enqueue puts a connection at the end of its client's queue, and a client who has not waited behind those who do.
func (s *scheduler) enqueue(c *Conn) {
	s.waiting++
	q := s.clients[c.turn.client]
	if q != nil {
		q.last.turn.next = c
		q.last = c
		return
	}
	if n := len(s.idle); n > 0 {
		q, s.idle = s.idle[n-1], s.idle[:n-1]
	} else {
		q = new(clientQueue)
	}
	*q = clientQueue{client: c.turn.client, first: c, last: c}
	s.clients[q.client] = q
	if s.first == nil {
		q.prev, q.next = q, q
		s.first = q
		return
	}
	q.prev, q.next = s.first.prev, s.first
	q.prev.next, q.next.prev = q, q
}

// dequeue takes the first connection of the client whose turn it is. The turn goes on to the next client.
func (s *scheduler) dequeue() *Conn {
	q := s.first
	c := q.first
	s.first = q.next
	s.waiting--
	if q.first = c.turn.next; q.first == nil {
		s.remove(q)
	}
	c.turn.next = nil
	return c
}

// remove takes an empty queue out of the ring.
func (s *scheduler) remove(q *clientQueue) {
	if s.first == q {
		s.first = nil // it was the only one
	}
	q.prev.next, q.next.prev = q.next, q.prev
	delete(s.clients, q.client)
	if len(s.idle) < maxIdleQueues {
		s.idle = append(s.idle, q)
	}
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
