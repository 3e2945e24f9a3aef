package wire

import (
	"os"
	"time"
)

// arrivals is how it is noticed what else has come while connections hand their slots to each other. Go looks for that only when a processor
// has nothing left to do, or every ten milliseconds; but there is always something to do while anybody waits. So from time to time the slots are
// not handed on, but given out by a goroutine that is woken by a pipe: it runs only after Go has looked, and
// what has come meanwhile is found with it.
type arrivals struct {
	looking bool      // slots wait until Go has looked
	looked  time.Time // when it has, or when the first one came to wait
	pipe    *os.File  // to write to; nil: none yet
	closed  bool
}

// lookEvery is the time after which it is looked again, while connections wait.
const lookEvery = 500 * time.Microsecond

// lookForArrivals tells whether slots are to wait now.
func (s *scheduler) lookForArrivals() bool {
	a := &s.arrival
	if a.looking || a.closed || time.Since(a.looked) < lookEvery {
		return a.looking
	}
	if a.pipe == nil {
		from, to, err := os.Pipe()
		if err != nil {
			a.closed = true
			return false // no descriptors: others are noticed later then
		}
		a.pipe = to
		go s.distributeBy(from)
	}
	_, err := a.pipe.Write([]byte{0}) // there is place: nobody writes a second one before this is read
	a.looking = err == nil
	return a.looking
}

// distributeBy gives slots out whenever something comes from a pipe.
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

// close ends the goroutine. Slots are only handed on from now on.
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
