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
)

// testScheduler is a scheduler with so many slots.
func testScheduler(slots int) *scheduler {
	s := newScheduler()
	s.free, s.slots = slots, make([]slot, slots)
	return s
}

// connOf is a connection of a client, which is known by a name.
func connOf(client string) *Conn {
	c := new(Conn)
	c.turn.client = userClient(client)
	return c
}

// TestTurns: a client with many connections gets one turn where one with a single connection gets one.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, holder := testScheduler(1), connOf("a")
		s.enter(holder)
		var order []string
		for _, name := range []string{"loud 1", "loud 2", "loud 3", "loud 4", "quiet 1", "other 1", "quiet 2"} {
			client, _, _ := strings.Cut(name, " ")
			c := connOf(client)
			go func() {
				s.enter(c)
				order = append(order, name) // only who has the slot gets here
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
		if s.free != 1 || s.waiting != 0 || len(s.clients) != 0 || s.first != nil {
			t.Errorf("%d slots are free, %d connections of %d clients wait", s.free, s.waiting, len(s.clients))
		}
	})
}

// TestLongHold: who keeps a slot for long, because it waits for something, does not keep others from going on. What it gives
// back later is not given out twice.
func TestLongHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, stuck, next := testScheduler(1), connOf("a"), connOf("b")
		s.enter(stuck)
		time.Sleep(time.Hour)
		if stuck.turn.slot == 0 {
			t.Fatal("the slot was taken away although nobody needs it")
		}
		s.enter(next) // in vain, but for that
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
			t.Error("the timer goes on though nobody waits")
		}
	})
}

// TestArrivals: while others wait, slots are given out by way of the poller from time to time, and nobody is forgotten meanwhile,
// nor when the server closes.
func TestArrivals(t *testing.T) {
	for _, closed := range []bool{false, true} {
		s, holder := testScheduler(1), connOf("a")
		s.enter(holder)
		served := make(chan bool)
		for range 3 {
			c := connOf("b")
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
		s.mu.Lock()
		s.arrival.looked = time.Now().Add(-2 * lookEvery)
		s.mu.Unlock()
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

// turnHandler notes whether requests have a slot, and gives it up as one does that waits for the journal.
type turnHandler struct {
	Handler
	c     *Conn
	slots chan bool
}

func (h turnHandler) ServeRequest(*fasthttp.RequestCtx) {
	h.slots <- h.c.turn.slot > 0
	h.c.Pause()
}

// TestPipelinedRequests: requests that come in one piece have a turn each.
func TestPipelinedRequests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	slots := make(chan bool, 3)
	all := New(Options{
		MaxConnections: 8, MaxPerAddress: 8, ReadTimeout: time.Minute, IdleTimeout: time.Minute, WriteTimeout: time.Minute, Log: slog.New(slog.DiscardHandler),
		NewHandler: func(c *Conn) Handler { return turnHandler{c: c, slots: slots} },
	})
	var ended = make(chan error)
	go func() { ended <- all.Serve(l) }()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, strings.Repeat("GET / HTTP/1.1\r\nHost: x\r\n\r\n", 3)); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	for i := range 3 {
		var answer fasthttp.Response
		if err := answer.Read(in); err != nil {
			t.Fatal(err)
		}
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
