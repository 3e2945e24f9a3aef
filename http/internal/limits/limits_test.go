package limits

import (
	"errors"
	"net/netip"
	"testing"
)

// TestShares tests that one principal gets half of the capacity, that two principals get a third
// each, and that only privileged requests may use the reserve.
func TestShares(t *testing.T) {
	const capacity = 120
	for _, test := range []struct {
		name       string
		principals int
		want       []int64 // amounts held after acquiring in turn until rejected
		reserved   int64   // amount that the reserve still grants
	}{
		{"alone", 1, []int64{60}, 90},
		{"two", 2, []int64{40, 40}, 70},
		{"five", 5, []int64{20, 20, 20, 20, 20}, 50},
	} {
		l := NewLedger(Capacities{Watches: capacity})
		var all []*Principal
		for i := range test.principals {
			all = append(all, l.ForUser(string(rune('a'+i))))
		}
		for admitted := true; admitted; {
			admitted = false
			for _, p := range all {
				admitted = p.TryAcquire(Watches, 1, 1, false) == nil || admitted
			}
		}
		for i, p := range all {
			if p.Held(Watches) != test.want[i] {
				t.Errorf("%s: %v holds %d, want %d", test.name, p, p.Held(Watches), test.want[i])
			}
		}
		if err := l.ForUser("newcomer").TryAcquire(Watches, 1, 1, false); err != nil {
			t.Errorf("%s: a newcomer: %v", test.name, err)
		}
		admin := l.ForUser("admin")
		for admin.TryAcquire(Watches, 1, 1, true) == nil {
		}
		if got := admin.Held(Watches) + 1; got != test.reserved {
			t.Errorf("%s: an administrator gets %d, want %d", test.name, got, test.reserved)
		}
	}
}

func TestRejections(t *testing.T) {
	l := NewLedger(Capacities{RequestBytes: 1000})
	joe := l.ForUser("joe")
	if err := joe.TryAcquire(RequestBytes, 5000, 5000, false); err != nil {
		t.Fatalf("what is larger than the capacity is not admitted alone: %v", err)
	}
	ann := l.ForAddress(netip.MustParseAddr("192.0.2.1"))
	if err := ann.TryAcquire(RequestBytes, 1, 1, false); err == nil || err.Error() != "all 1000 request-bytes are in use" {
		t.Errorf("%v", err)
	}
	joe.Release(RequestBytes, 4600)
	if err := joe.TryAcquire(RequestBytes, 300, 300, false); err == nil || err.Error() != `user "joe" holds 400 request-bytes of a share of 600` {
		t.Errorf("%v", err)
	}
	if err := ann.TryAcquire(RequestBytes, 600, 600, false); err != nil {
		t.Errorf("a newcomer: %v", err)
	}
	counts := l.Rejections()
	if share, all := counts[`resource="request-bytes",reason="share"`], counts[`resource="request-bytes",reason="capacity"`]; share != uint64(1) || all != uint64(1) {
		t.Errorf("%v and %v are counted", share, all)
	}
	bodies := NewLedger(Capacities{RequestBytes: 1000})
	if joe := bodies.ForUser("joe"); joe.TryAcquire(RequestBytes, 400, 400, false) != nil || joe.TryAcquire(RequestBytes, 500, 900, false) != nil || joe.TryAcquire(RequestBytes, 100, 100, false) == nil {
		t.Error("the only body of a user cannot grow to the capacity, or another one comes beside it")
	}
	unlimited := NewLedger(Capacities{}).ForUser("x")
	for range 1000 {
		if unlimited.TryAcquire(Reads, 1, 1, false) != nil {
			t.Fatal("rejected without a limit")
		}
	}
}

func TestPermit(t *testing.T) {
	l := NewLedger(Capacities{Reads: 4, Watches: 4, ResponseBytes: 1000})
	joe := l.ForUser("joe")
	p := Permit{Principal: joe}
	var rejection *Rejection
	if p.TryAcquire(Reads, 1) != nil || p.TryAcquire(Watches, 1) != nil || p.TryAcquire(ResponseBytes, 900) != nil ||
		!errors.As(p.TryAcquire(ResponseBytes, 200), &rejection) {
		t.Fatal("the capacities are not kept")
	}
	if !p.ReleaseBeyond(ResponseBytes, 100) || p.ReleaseBeyond(ResponseBytes, 100) || l.Used(ResponseBytes) != 100 {
		t.Errorf("%d bytes are held", l.Used(ResponseBytes))
	}
	p.Raise(ResponseBytes, 50)
	if p.Raise(ResponseBytes, 2000); l.Used(ResponseBytes) != 2000 {
		t.Errorf("%d bytes are held after an unconditional raise", l.Used(ResponseBytes))
	}
	if !p.ReleaseTurn() || p.ReleaseTurn() || l.Used(Reads) != 0 {
		t.Error("a slot is given back twice")
	}
	watch := p.Split(Watches)
	for range 2 {
		p.Release()
	}
	joe.Close()
	if l.Used(ResponseBytes) != 0 || l.Used(Watches) != 1 || l.ForUser("joe") != joe {
		t.Error("a watch does not keep its principal")
	}
	joe.Close()
	if watch.Release(); l.Used(Watches) != 0 || len(l.principals) != 0 {
		t.Errorf("%d watches and %d principals are left", l.Used(Watches), len(l.principals))
	}
}
