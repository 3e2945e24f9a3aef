package flowcontrol

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func aLevel(seats, queues, hand, length int) (*level, *bound) {
	l := newLevel(levelSpec{name: "l", queues: queues, handSize: hand, queueLength: length}, time.Now())
	l.nominal, l.lower, l.upper, l.limit = seats, seats, seats, seats
	return l, &bound{schema: &schema{name: "s"}, level: l, most: maxSeats, stats: l.statsOf("s")}
}

func asks(l *level, b *bound, flow uint64, seats int) (*Request, admission, *RejectedError) {
	r := &Request{schema: b, work: Work{InitialSeats: seats}}
	outcome, refusal := l.start(r, flow)
	return r, outcome, refusal
}

// TestDispatchOrder compares the dispatch order of a level with one seat and two queues with an
// order computed by hand.
//
// Each request takes the estimated 3 ms. Flow 0 in queue 0 sends four requests, and flow 1 in queue
// 1 sends two a little later. The first request runs immediately and advances the clock of queue 0
// by 3 ms. The virtual finish times are a1=3 (done), b1=3+, a2=6, b2=6+, a3=9, a4=12.
func TestDispatchOrder(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		l, b := aLevel(1, 2, 1, 10)
		var order []string
		var mu sync.Mutex // guards order
		begin := func(name string, flow uint64) {
			r, outcome, refusal := asks(l, b, flow, 1)
			if refusal != nil {
				t.Fatal(refusal)
			}
			go func() {
				if outcome == queued {
					if err := r.wait(t.Context(), nil, time.Minute); err != nil {
						t.Error(err)
					}
				}
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				time.Sleep(3 * time.Millisecond)
				l.finish(r)
			}()
			synctest.Wait()
		}
		for _, name := range []string{"a1", "a2", "a3", "a4"} {
			begin(name, 0)
		}
		begin("b1", 1)
		begin("b2", 1)
		time.Sleep(time.Second)
		mu.Lock()
		defer mu.Unlock()
		l.mu.Lock()
		defer l.mu.Unlock()
		if got := strings.Join(order, " "); got != "a1 b1 a2 b2 a3 a4" {
			t.Error(got)
		}
		if !l.idle() || len(l.queues) != 0 || l.active != 0 || len(l.ready) != 0 || l.running != nil {
			t.Errorf("left behind: %v", l.queues)
		}
	})
}

func TestLargeRequestIsNotPassed(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		l, b := aLevel(4, 8, 1, 10)
		small, _, _ := asks(l, b, 0, 3)
		large, outcome, _ := asks(l, b, 1, 4)
		if outcome != queued {
			t.Fatal("there were not so many seats")
		}
		next, outcome, _ := asks(l, b, 1, 1) // in the same queue
		if outcome != queued || b.stats.noAccommodation == 0 {
			t.Fatal("the large one is passed")
		}
		l.finish(small)
		if large.state != executing || next.state != waiting {
			t.Fatal("it is not the large one's turn")
		}
		l.finish(large)
		if next.state != executing {
			t.Fatal("nor then the small one's")
		}
		huge, _, _ := asks(l, b, 3, 9)
		l.finish(next)
		if huge.state != executing || l.seatsInUse != 9 {
			t.Fatal("what needs more than there is was not served alone")
		}
		l.finish(huge)
	})
}

func TestRefusals(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		l, b := aLevel(1, 1, 1, 1)
		first, _, _ := asks(l, b, 0, 1)
		second, outcome, _ := asks(l, b, 0, 1)
		if outcome != queued {
			t.Fatal("the second does not wait")
		}
		if _, _, refusal := asks(l, b, 0, 1); refusal == nil || refusal.Reason != QueueFull || refusal.RetryAfter != 1 {
			t.Errorf("a third in a queue for one: %v", refusal)
		}
		began := time.Now()
		if err := second.wait(t.Context(), nil, 5*time.Second); err == nil || err.(*RejectedError).Reason != TimeOut || time.Since(began) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		third, _, _ := asks(l, b, 0, 1)
		cancel()
		if err := third.wait(ctx, nil, time.Minute); err == nil || err.(*RejectedError).Reason != Cancelled {
			t.Errorf("a client that has gone: %v", err)
		}
		l.finish(first)
		if l.finish(first) {
			t.Error("it ends twice")
		}
		reject, rb := aLevel(1, 0, 0, 0)
		only, _, _ := asks(reject, rb, 0, 1)
		if _, _, refusal := asks(reject, rb, 0, 1); refusal == nil || refusal.Reason != ConcurrencyLimit {
			t.Errorf("without queues: %v", refusal)
		}
		reject.finish(only)
		for _, why := range []Reason{QueueFull, TimeOut, Cancelled} {
			if b.stats.rejected[why] != 1 {
				t.Errorf("%s was counted %d times", why, b.stats.rejected[why])
			}
		}
		if !l.idle() || !reject.idle() {
			t.Error("seats are left occupied")
		}
	})
}

func TestLingeringSeats(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		l, b := aLevel(4, 4, 1, 10)
		r := &Request{schema: b, work: writeWork(100, 4)}
		if r.work != (Work{InitialSeats: 1, FinalSeats: 4, AdditionalLatency: 12500 * time.Microsecond}) {
			t.Fatalf("%+v", r.work)
		}
		l.start(r, 0)
		l.finish(r)
		other, outcome, _ := asks(l, b, 1, 1)
		if outcome != queued {
			t.Error("the seats are free already")
		}
		time.Sleep(13 * time.Millisecond)
		synctest.Wait()
		if other.state != executing {
			t.Error("the seats are not given back")
		}
		l.finish(other)
	})
}

func TestFairness(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		l, b := aLevel(10, 64, 4, 50)
		var served [6]int
		var mu sync.Mutex // guards served
		client := func(flow, parallel int) {
			for range parallel {
				go func() {
					for time.Now().Before(l.epoch.Add(2 * time.Second)) {
						r, outcome, refusal := asks(l, b, uint64(flow)*0x9e3779b97f4a7c15, 1)
						if refusal != nil || outcome == queued && r.wait(t.Context(), nil, time.Minute) != nil {
							time.Sleep(time.Millisecond)
							continue
						}
						time.Sleep(5 * time.Millisecond)
						mu.Lock()
						served[flow]++
						mu.Unlock()
						l.finish(r)
					}
				}()
			}
		}
		client(1, 100)
		for flow := 2; flow <= 5; flow++ {
			client(flow, 2)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		// Each of these flows runs two requests of 5 ms at a time, so it can be served at most 800
		// times in 2 s.
		for flow := 2; flow <= 5; flow++ {
			if served[flow] < 600 {
				t.Errorf("flow %d was served %d times, all: %v", flow, served[flow], served)
			}
		}
		if total := served[1] + served[2] + served[3] + served[4] + served[5]; total < 3900 {
			t.Errorf("seats stay empty: %d", total)
		}
	})
}

func TestAccounts(t *testing.T) {
	for seed := range uint64(10) {
		withoutPool(t)
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			l, b := aLevel(1+rng.IntN(20), rng.IntN(2)*(1+rng.IntN(30)), 1, 1+rng.IntN(5))
			var held []*Request
			for range 2000 {
				time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
				switch n := rng.IntN(100); {
				case n < 50:
					r, outcome, _ := asks(l, b, rng.Uint64(), 1+rng.IntN(5))
					if outcome != refused {
						held = append(held, r)
					}
				case n < 90 && len(held) > 0:
					i := rng.IntN(len(held))
					if r := held[i]; r.state == executing {
						l.finish(r)
						held = slices.Delete(held, i, i+1)
					} else if rng.IntN(4) == 0 && l.eject(r, TimeOut) != nil {
						held = slices.Delete(held, i, i+1)
					}
				case n == 90:
					l.setLimit(rng.IntN(20), int64(time.Since(l.epoch)))
				case n == 91 && l.spec.queues > 0:
					l.spec.queues = 1 + rng.IntN(30)
				}
				check(t, l, held)
			}
			l.setLimit(100, int64(time.Since(l.epoch)))
			for len(held) > 0 {
				held = slices.DeleteFunc(held, func(r *Request) bool { return r.state == executing && l.finish(r) })
			}
			if !l.idle() || len(l.queues) != 0 || l.active != 0 || l.seatsWaiting != 0 || l.demand.now != 0 {
				t.Errorf("seed %d leaves %+v", seed, l)
			}
		})
	}
}

// check compares a level's counters with its waiting and running requests (held).
func check(t *testing.T, l *level, held []*Request) {
	t.Helper()
	var waits, runs, seatsWaiting, seatsInUse int
	perQueue := map[*queue]int{}
	for _, r := range held {
		if r.state == waiting {
			waits, seatsWaiting = waits+1, seatsWaiting+r.seats
			perQueue[r.queue]++
		} else {
			runs, seatsInUse = runs+1, seatsInUse+r.seats
		}
	}
	if l.waiting != waits || l.executing != runs || l.seatsWaiting != seatsWaiting || l.seatsInUse != seatsInUse {
		t.Fatalf("%d waiting (%d seats), %d executing (%d seats); counted %d (%d), %d (%d)",
			l.waiting, l.seatsWaiting, l.executing, l.seatsInUse, waits, seatsWaiting, runs, seatsInUse)
	}
	active := 0
	for index, q := range l.queues {
		if q.index != index || q.length != perQueue[q] || q.length > 0 != (q.place >= 0) {
			t.Fatalf("queue %d: %+v, counted %d", index, q, perQueue[q])
		}
		if q.active() {
			active++
		}
	}
	if active != l.active {
		t.Fatalf("%d queues are active, counted %d", l.active, active)
	}
	if l.waiting > 0 && l.seatsInUse < l.limit && l.fits(l.ready[0].first.seats) {
		t.Fatal("one waits although there are seats for it")
	}
}

func TestDeal(t *testing.T) {
	counts := make([]int, 16)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var place [maxHand]int
		hand := deal(rng.Uint64(), 16, 4, &place)
		for i, card := range hand {
			if card < 0 || card >= 16 || slices.Contains(hand[:i], card) {
				t.Fatal(hand)
			}
			counts[card]++
		}
	}
	for card, n := range counts {
		if math.Abs(float64(n)-25_000) > 600 {
			t.Errorf("queue %d is in %d hands", card, n)
		}
	}
	var place [maxHand]int
	for _, c := range []struct {
		hash uint64
		want string
	}{{0, "[0 1 2]"}, {9, "[4 1 0]"}, {5*4*3 - 1, "[4 3 2]"}} {
		if got := fmt.Sprint(deal(c.hash, 5, 3, &place)); got != c.want {
			t.Errorf("%d: %s", c.hash, got)
		}
	}
	if got := deal(7, 3, 60, &place); len(got) != 3 {
		t.Errorf("a hand of more queues than there are: %v", got)
	}
}

func TestBackOff(t *testing.T) {
	var b backOff
	var after []int
	for second := int64(1); second < 40; second++ {
		for range 200 {
			after = append(after, b.refused(second))
		}
	}
	if last := after[len(after)-1]; last != 32 || after[0] != 1 {
		t.Errorf("from %d to %d", after[0], last)
	}
	for second := int64(200); second < 260; second += 2 {
		b.refused(second)
	}
	if got := b.refused(260); got > 4 {
		t.Errorf("%d s although few are refused", got)
	}
}

func TestAllocate(t *testing.T) {
	for _, c := range []struct {
		seats  float64
		claims []claim
		want   []float64
	}{
		{10, []claim{{1, 0, 100}, {3, 0, 100}}, []float64{2.5, 7.5}},
		{10, []claim{{1, 0, 2}, {3, 0, 100}}, []float64{2, 8}},
		{10, []claim{{5, 5, 10}, {1, 0, 10}, {1, 1, 2}}, []float64{7.142857, 1.428571, 1.428571}},
		{10, []claim{{5, 5, 10}, {5, 5, 10}}, []float64{5, 5}},
		{10, []claim{{1, 0, 4}, {1, 0, 6}}, []float64{4, 6}},
		{0, []claim{{1, 0, 4}}, []float64{0}},
		{10, []claim{{1, 0, 4}}, nil},
		{1, []claim{{4, 2, 4}}, nil},
		{10, []claim{{0, 0, 8}, {0, 0, 8}}, []float64{5, 5}},
	} {
		parts, _, ok := allocate(c.seats, c.claims)
		if ok != (c.want != nil) || !slices.EqualFunc(parts, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-4 }) {
			t.Errorf("%v of %v: %v", c.claims, c.seats, parts)
		}
	}
}

// TestAllocateFairly checks that all seats are allocated within the bounds of the claims. All
// claims whose part is not at a bound must get the same fraction of their target.
func TestAllocateFairly(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var claims []claim
		low, high := 0.0, 0.0
		for range 1 + rng.IntN(10) {
			lower := float64(rng.IntN(50))
			c := claim{lower + float64(rng.IntN(50)), lower, lower + float64(rng.IntN(100))}
			claims, low, high = append(claims, c), low+c.lower, high+c.upper
		}
		seats := low + rng.Float64()*(high-low)
		parts, fraction, ok := allocate(seats, claims)
		sum := 0.0
		for i, c := range claims {
			if !ok || parts[i] < c.lower-1e-6 || parts[i] > c.upper+1e-6 || parts[i] != c.at(fraction) {
				t.Fatalf("%v of %v: %v", claims, seats, parts)
			}
			sum += parts[i]
		}
		if math.Abs(sum-seats) > 1e-6 {
			t.Fatalf("%v of %v are given out", sum, seats)
		}
	}
}

// withoutPool empties the pool of requests before and after a test, because a channel created in a
// synctest bubble must not be used outside of it.
func withoutPool(t *testing.T) {
	forget := func() { requests = sync.Pool{New: requests.New} }
	forget()
	t.Cleanup(forget)
}

func aController(seats int) *Controller {
	c := New(meta.Kubernetes, seats)
	maintained(c)
	return c
}

// TestLimits compares the limits with metrics of kube-apiserver 1.37 with default flags.
func TestLimits(t *testing.T) {
	c := aController(600)
	for name, want := range map[string][3]int{
		"catch-all": {13, 13, 613}, "exempt": {0, 0, 600}, "global-default": {49, 24, 649}, "leader-election": {25, 25, 625},
		"node-high": {98, 73, 698}, "system": {74, 50, 674}, "workload-high": {98, 49, 698}, "workload-low": {245, 24, 845},
	} {
		l := c.current.Load().levels[name]
		if got := [3]int{l.nominal, l.lower, l.upper}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func TestBorrowing(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		c := aController(600)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go c.Run(ctx)
		user := func(name string, n int) (stop func()) {
			ctx, cancel := context.WithCancel(t.Context())
			a := &authz.Attributes{User: &authn.User{Name: name, Groups: []string{"system:authenticated"}}, Verb: "get", ResourceRequest: true, Resource: "pods", Namespace: "n"}
			for range n {
				go func() {
					for ctx.Err() == nil {
						r, err := c.Admit(ctx, a, new(Classification), nil, time.Minute)
						if err != nil {
							time.Sleep(time.Second)
							continue
						}
						time.Sleep(500 * time.Millisecond)
						r.Finish()
					}
				}()
			}
			return cancel
		}
		limit := func(name string) int { return c.current.Load().levels[name].figures().limit }
		before := limit("global-default")
		stop := user("jane", 400)
		time.Sleep(time.Minute)
		if got := limit("global-default"); got < 4*before || got < 300 {
			t.Errorf("global-default has %d seats after %d", got, before)
		}
		stopOther := user("system:kube-scheduler", 400)
		time.Sleep(time.Minute)
		if got := limit("workload-high"); got < 98 {
			t.Errorf("workload-high gets %d of its 98 seats", got)
		}
		stop()
		stopOther()
		time.Sleep(time.Hour)
		if got := limit("global-default"); got > 2*before {
			t.Errorf("global-default keeps %d seats", got)
		}
	})
}
