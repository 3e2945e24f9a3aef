package wire

import (
	"os"
	"time"
)

// arrivals lets connections with new input compete for the scheduler's slots. While goroutines are
// runnable, the Go runtime may poll the network only every 10 ms. Until then, waiting connections
// could pass the slots to each other.
//
// Once per lookEvery, a goroutine that reads from a pipe distributes the slots. Only a network poll
// makes this goroutine runnable, and the same poll wakes connections with new input.
type arrivals struct {
	looking bool      // slots wait for the goroutine
	looked  time.Time // last poll, or when the first connection began to wait
	pipe    *os.File  // write end; nil: not created yet
	closed  bool
}

// lookEvery is the minimum interval between two network polls while connections wait for slots.
const lookEvery = 500 * time.Microsecond

// lookForArrivals triggers a network poll if one is due. It reports whether free slots must not be
// distributed before the poll.
func (s *scheduler) lookForArrivals() bool {
	a := &s.arrival
	if a.looking || a.closed || time.Since(a.looked) < lookEvery {
		return a.looking
	}
	if a.pipe == nil {
		from, to, err := os.Pipe()
		if err != nil {
			a.closed = true
			return false // out of descriptors: arrivals are noticed later
		}
		a.pipe = to
		go s.distributeBy(from)
	}
	_, err := a.pipe.Write([]byte{0}) // cannot block: only one byte is ever unread
	a.looking = err == nil
	return a.looking
}

// distributeBy distributes the free slots after each byte from the pipe.
func (s *scheduler) distributeBy(from *os.File) {
	defer from.Close()
	for b := make([]byte, 1); ; {
		if _, err := from.Read(b); err != nil {
			return
		}
		s.mu.Lock()
		s.arrival.looking, s.arrival.looked = false, time.Now()
		s.distribute()
		s.mu.Unlock()
	}
}

// close ends the goroutine that reads from the pipe. Slots are then distributed without network
// polls.
func (s *scheduler) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.arrival
	a.closed, a.looking = true, false
	if a.pipe != nil {
		_ = a.pipe.Close()
	}
	s.distribute()
}
