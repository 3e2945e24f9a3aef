package simulation

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"
)

// TestQueue checks that Pods are returned in order and to one worker at a time. A Pod that becomes
// due meanwhile is returned again.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, begin := newQueue(), time.Now()
		a, b := objectKey{name: "a"}, objectKey{name: "b"}
		q.add(b, begin.Add(2*time.Second))
		q.add(a, begin.Add(3*time.Second))
		q.add(a, begin.Add(time.Second)) // the earlier time counts
		q.add(a, begin.Add(9*time.Second))
		take := func(want objectKey, after time.Duration) {
			t.Helper()
			if key, ok := q.take(t.Context()); !ok || key != want || time.Since(begin) != after {
				t.Errorf("%v %v after %s, want %v after %s", key, ok, time.Since(begin), want, after)
			}
		}
		take(a, time.Second)
		q.add(a, begin) // while a worker has it
		q.add(a, begin.Add(time.Hour))
		take(b, 2*time.Second)
		q.done(b)
		q.done(a)
		take(a, 2*time.Second)
		q.done(a)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if key, ok := q.take(ctx); ok || len(q.entries) != 0 {
			t.Errorf("%v is left, and %v", key, q.entries)
		}
	})
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	a := newAddresses(netip.MustParsePrefix("10.0.0.0/29"))
	a.note("10.0.0.2")
	a.note("192.0.2.1") // outside the range
	take := func(want string) {
		t.Helper()
		if got, err := a.take(); err != nil || got != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	take("10.0.0.1")
	take("10.0.0.3")
	a.release("10.0.0.1")
	for _, want := range []string{"10.0.0.4", "10.0.0.5", "10.0.0.6", "10.0.0.7", "10.0.0.1"} {
		take(want)
	}
	if ip, err := a.take(); err == nil {
		t.Errorf("%s of a range that is used up", ip)
	}
}
