package wire

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/internal/must"
)

func testScheduler(slots, share int) *scheduler {
	s := newScheduler(1)
	s.free, s.slots, s.share = slots, make([]slot, slots), share
	return s
}

var testLedger = limits.NewLedger(limits.Capacities{})

func (s *scheduler) principal(client string) *limits.Principal { return testLedger.ForUser(client) }

func (s *scheduler) forget(c *Conn) {
	s.leave(c)
	s.assign(c, nil)
}

func (s *scheduler) conn(client string) *Conn {
	c := new(Conn)
	s.assign(c, s.principal(client))
	return c
}

// TestTurns tests that clients get the same number of turns, regardless of their connection counts.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testScheduler(1, 1)
		holder := s.conn("a")
		s.enter(holder)
		var order []string
		for _, name := range []string{"loud 1", "loud 2", "loud 3", "loud 4", "quiet 1", "other 1", "quiet 2"} {
			client, _, _ := strings.Cut(name, " ")
			c := s.conn(client)
			go func() {
				s.enter(c)
				order = append(order, name) // only the holder of the slot gets here
				s.leave(c)
			}()
			synctest.Wait()
		}
		if s.waiting != 7 || len(order) > 0 {
			t.Fatalf("%d wait, %v did not", s.waiting, order)
		}
		s.leave(holder)
		synctest.Wait()
		if want := []string{"loud 1", "quiet 1", "other 1", "loud 2", "quiet 2", "loud 3", "loud 4"}; !slices.Equal(order, want) {
			t.Errorf("the turns were %v, want %v", order, want)
		}
		if s.free != 1 || s.waiting != 0 || s.next != nil {
			t.Errorf("%d slots are free, %d connections wait, %v", s.free, s.waiting, s.next)
		}
	})
}

// TestShare tests that a single client may hold all slots, but only its share while other clients
// are active.
func TestShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testScheduler(4, 2)
		served := func(client string) *Conn {
			c := s.conn(client)
			go s.enter(c)
			synctest.Wait()
			return c
		}
		holders := func(conns []*Conn) (n int) {
			for _, c := range conns {
				if c.turn.slot > 0 {
					n++
				}
			}
			return n
		}
		s.leave(served("loud"))
		time.Sleep(2 * othersFor)
		var loud []*Conn
		for range 4 {
			loud = append(loud, served("loud"))
		}
		if n := holders(loud); n != 4 {
			t.Fatalf("alone it has %d slots of 4", n)
		}
		quiet := s.conn("quiet")
		go s.enter(quiet)
		synctest.Wait()
		s.leave(loud[0])
		synctest.Wait()
		if quiet.turn.slot == 0 {
			t.Fatal("the other one has no slot")
		}
		for range 3 {
			loud = append(loud, served("loud"))
		}
		s.leave(loud[1])
		synctest.Wait()
		if n := holders(loud); n != 2 || s.free != 1 {
			t.Fatalf("beside another one it has %d slots, and %d are free", n, s.free)
		}
		if other := served("other"); other.turn.slot == 0 {
			t.Fatal("one more finds no slot")
		} else {
			s.leave(other)
		}
		s.leave(quiet)
		if s.leave(loud[2]); holders(loud) != 2 {
			t.Fatalf("it has %d slots at once", holders(loud))
		}
		s.mixed = s.mixed.Add(-2 * othersFor) // sleeping would revoke slots
		s.leave(loud[3])
		synctest.Wait()
		if n := holders(loud); n != 3 || s.waiting != 0 {
			t.Errorf("alone again it has %d slots for 3, and %d wait", n, s.waiting)
		}
	})
}

// TestClients tests that a client is tracked only while it has connections, and that a slot counts
// for the client that acquired it.
func TestClients(t *testing.T) {
	s := testScheduler(2, 1)
	a, b := s.conn("a"), s.conn("a")
	s.enter(a)
	old := a.turn.client
	s.assign(a, s.principal("b"))
	if old.held != 1 || len(s.clients) != 2 {
		t.Errorf("%d slots of %d clients", old.held, len(s.clients))
	}
	s.forget(a)
	s.forget(b)
	if old.held != 0 || s.free != 2 || len(s.clients) != 0 {
		t.Errorf("%d slots of %d clients, %d are free", old.held, len(s.clients), s.free)
	}
}

// TestLongHold tests that a slot that is held too long is revoked, and that its holder does not
// free it again.
func TestLongHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testScheduler(1, 1)
		stuck, next := s.conn("a"), s.conn("b")
		s.enter(stuck)
		time.Sleep(time.Hour)
		if stuck.turn.slot == 0 {
			t.Fatal("the slot was revoked without a waiting connection")
		}
		s.enter(next) // blocks until a slot is revoked
		if stuck.turn.slot != 0 || next.turn.slot == 0 {
			t.Fatal("the slot has not changed its holder")
		}
		s.leave(stuck)
		if s.leave(next); s.free != 1 {
			t.Errorf("%d slots of 1 are free", s.free)
		}
		synctest.Wait()
		time.Sleep(2 * maxHold)
		synctest.Wait()
		if s.watched {
			t.Error("the timer continues without a waiting connection")
		}
	})
}

// TestArrivals tests that while connections wait, slots are distributed after a network poll, and
// that no slot is lost, even on close.
func TestArrivals(t *testing.T) {
	for _, closed := range []bool{false, true} {
		s := testScheduler(1, 1)
		s.watched = true // otherwise the timer would revoke the slot
		holder := s.conn("a")
		s.enter(holder)
		served := make(chan bool)
		for range 3 {
			c := s.conn("b")
			go func() {
				s.enter(c)
				s.leave(c)
				served <- true
			}()
		}
		for waiting := 0; waiting < 3; {
			s.mu.Lock()
			waiting = s.waiting
			s.mu.Unlock()
		}
		s.leave(holder)
		if closed {
			s.close()
		}
		for range 3 {
			<-served
		}
		s.mu.Lock()
		if s.arrival.pipe == nil || s.free != 1 || s.waiting != 0 {
			t.Errorf("closed %t: %d slots are free, %d wait, %v", closed, s.free, s.waiting, s.arrival)
		}
		s.mu.Unlock()
		if !closed {
			s.close()
		}
	}
}

// A turnHandler reports whether each request has a slot. It then calls Pause, like a handler that
// waits for the journal.
type turnHandler struct {
	Handler
	c     *Conn
	slots chan bool
}

func (h turnHandler) ServeRequest(*fasthttp.RequestCtx) {
	h.slots <- h.c.turn.slot > 0
	h.c.Pause()
}

func TestPipelinedRequests(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	slots := make(chan bool, 3)
	all := New(Options{
		MaxConnections: 8, ReadTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		NewHandler: func(c *Conn) Handler { return turnHandler{c: c, slots: slots} },
	})
	var ended = make(chan error)
	go func() { ended <- all.Serve(l) }()
	c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	must.Get(io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 3)))(t)
	in := bufio.NewReader(c)
	for i := range 3 {
		var answer fasthttp.Response
		must.Succeed(t, answer.Read(in))
		if !<-slots {
			t.Errorf("request %d is served without a slot", i)
		}
	}
	_, _ = c.Close(), l.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	all.Close()
	if err := all.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
