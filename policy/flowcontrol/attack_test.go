package flowcontrol

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func podsOf(user string) *authz.Attributes {
	return &authz.Attributes{User: &authn.User{Name: user, Groups: []string{"system:authenticated"}}, Verb: "get", ResourceRequest: true, Resource: "pods", Namespace: "n"}
}

func TestManyUsers(t *testing.T) {
	c := aController(600)
	c.mu.Lock()
	spec := c.specs["global-default"]
	spec.queues, spec.handSize = 10_000_000, 1
	c.specs["global-default"] = spec
	c.configure()
	c.mu.Unlock()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 200_000 {
		r, err := c.Admit(t.Context(), podsOf(fmt.Sprint("user-", i)), new(Classification), nil, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		r.Finish()
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	l := c.current.Load().levels["global-default"]
	if len(l.queues) != 0 || len(l.stats) > 2 || int64(after.HeapAlloc)-int64(before.HeapAlloc) > 1<<20 {
		t.Errorf("%d queues, %d series, %d bytes are left", len(l.queues), len(l.stats), int64(after.HeapAlloc)-int64(before.HeapAlloc))
	}
}

func TestManyRules(t *testing.T) {
	c := aController(600)
	big := &schema{name: "big", level: "system", precedence: 10}
	for i := range 10_000 {
		big.rules = append(big.rules, rule{
			subjects:  []subject{{subjectUser, fmt.Sprint("user-", i)}},
			resources: []resourceRule{{verbs: ^verbs(0), groups: set{all: true}, resources: set{all: true}, namespaces: set{all: true}, cluster: true}},
		})
	}
	c.mu.Lock()
	c.schemas["big"] = big
	c.configure()
	c.mu.Unlock()
	cfg := c.current.Load()
	if got := cfg.classify(podsOf("user-9999")).name; got != "big" {
		t.Error(got)
	}
	if got := cfg.classify(podsOf("jane")).name; got != "global-default" {
		t.Error(got)
	}
	if n := testing.AllocsPerRun(100, func() { cfg.classify(podsOf("jane")) }); n > 3 { // podsOf itself allocates
		t.Errorf("%v allocations", n)
	}
}

func TestFlapping(t *testing.T) {
	withoutPool(t)
	synctest.Test(t, func(t *testing.T) {
		c := aController(20)
		ctx, stop := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var served, refused atomic.Int64
		for i := range 16 {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), 9))
				for ctx.Err() == nil {
					var l *Listing
					a := podsOf(fmt.Sprint("user-", rng.IntN(4)))
					if rng.IntN(3) == 0 {
						a.Verb, l = "list", &Listing{Stored: rng.IntN(2000)}
					}
					gone, cancel := context.WithCancel(ctx)
					if rng.IntN(4) == 0 {
						time.AfterFunc(time.Duration(rng.IntN(1000))*time.Microsecond, cancel) // a client that cancels its request while it waits
					}
					r, err := c.Admit(gone, a, new(Classification), l, 5*time.Millisecond)
					time.Sleep(time.Duration(rng.IntN(300)) * time.Microsecond)
					if err != nil {
						refused.Add(1)
					} else {
						r.Finish()
						served.Add(1)
					}
					cancel()
				}
			})
		}
		rng := rand.New(rand.NewPCG(7, 7))
		for range 200 {
			c.mu.Lock()
			switch rng.IntN(4) {
			case 0:
				delete(c.specs, "global-default")
			case 1:
				delete(c.schemas, "global-default")
			default:
				spec := levelSpec{name: "global-default", shares: rng.IntN(100), lendable: rng.IntN(101), borrowing: rng.IntN(3)*50 - 1, queueLength: 1 + rng.IntN(5)}
				if rng.IntN(3) > 0 {
					spec.queues = 1 + rng.IntN(64)
					spec.handSize = 1 + rng.IntN(min(6, spec.queues))
				}
				c.specs["global-default"] = spec
				c.schemas["global-default"] = &schema{name: "global-default", level: "global-default", precedence: 9900, distinguisher: byUser, rules: c.fixed.schemas["catch-all"].rules}
			}
			c.configure()
			c.mu.Unlock()
			time.Sleep(time.Millisecond)
		}
		stop()
		all.Wait()
		if served.Load() == 0 || refused.Load() == 0 {
			t.Errorf("%d served, %d refused", served.Load(), refused.Load())
		}
		for name, l := range c.current.Load().levels {
			if !l.idle() || len(l.queues) != 0 || l.active != 0 || l.running != nil || l.seatsInUse != 0 || l.seatsWaiting != 0 {
				t.Errorf("%s is left with %+v", name, l.figures())
			}
		}
	})
}

func TestClose(t *testing.T) {
	c := aController(20)
	c.mu.Lock()
	c.specs["global-default"] = levelSpec{name: "global-default", queues: 1, handSize: 1, queueLength: 5}
	c.configure()
	c.mu.Unlock()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Admit(context.Background(), podsOf("x"), new(Classification), nil, time.Hour)
		ended <- err
	}()
	c.Close()
	c.Close()
	if err := <-ended; err == nil || err.(*RejectedError).Reason != Cancelled {
		t.Error(err)
	}
	if _, err := c.Admit(context.Background(), podsOf("x"), new(Classification), nil, time.Hour); err == nil {
		t.Error("one was let in without a seat")
	}
}
