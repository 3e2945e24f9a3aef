package limits

import "testing"

// TestLimiter: the limit is enforced, system components have a reserve, and 0 is unlimited.
func TestLimiter(t *testing.T) {
	l := NewLimiter(8)
	count := func(system bool) (n int) {
		for l.tryAcquire(system) {
			n++
		}
		return n
	}
	if clients, system := count(false), count(true); clients != 8 || system != 2 || l.InFlight() != 10 {
		t.Errorf("%d and %d got in, %d are in flight", clients, system, l.InFlight())
	}
	l.release()
	l.release()
	if clients, system := count(false), count(true); clients != 0 || system != 2 {
		t.Errorf("%d clients and %d of the system got a slot of the reserve", clients, system)
	}
	unbounded := NewLimiter(0)
	for range 1000 {
		if !unbounded.tryAcquire(false) {
			t.Fatal("refused without a bound")
		}
	}
}

// TestReservation: everything is released exactly once, whatever was refused in between.
func TestReservation(t *testing.T) {
	l, b := NewLimiter(4), NewBudget(1000)
	var r, other Permit
	if !r.TryAcquireSlot(l, false) || !r.TryReserve(b, 900, false) || other.TryReserve(b, 200, false) || !other.TryReserve(b, 200, true) {
		t.Fatal("the budget is not kept")
	}
	if r.Shrink(100); b.Used() != 300 {
		t.Errorf("%d bytes are taken after shrinking", b.Used())
	}
	if r.Reserve(b, 2000); b.Used() != 2300 {
		t.Errorf("%d bytes are taken after what has to be", b.Used())
	}
	again := r.ReleaseSlot()
	if again != l || r.ReleaseSlot() != nil || l.InFlight() != 0 {
		t.Error("a slot is given back twice")
	}
	r.TryAcquireSlot(again, false)
	for range 2 {
		r.Release()
		other.Release()
	}
	if l.InFlight() != 0 || b.Used() != 0 {
		t.Errorf("%d slots and %d bytes are left", l.InFlight(), b.Used())
	}
	if !r.TryReserve(b, 5000, false) || other.TryReserve(b, 1, false) {
		t.Error("what is larger than the budget is not the only one")
	}
}
