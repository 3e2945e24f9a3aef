package limits

import (
	"sync"
	"time"
)

// Seats are what flow control has given to a request. Finish gives them back, and is called once.
type Seats interface{ Finish() }

// A Permit is the share of the limits that a request holds until its handler returns, or until its answer
// is written if that is streamed: the seats of flow control, a slot among the requests in flight, and
// bytes of the budget of answers. The zero value holds nothing.
type Permit struct {
	seats  Seats
	slot   *Limiter
	budget *Budget
	bytes  int64
}

// TryAcquireSlot takes a slot, or tells that there is none.
func (r *Permit) TryAcquireSlot(l *Limiter, system bool) bool {
	if !l.tryAcquire(system) {
		return false
	}
	r.slot = l
	return true
}

// HoldSeats takes over what flow control has given.
func (r *Permit) HoldSeats(s Seats) { r.seats = s }

// TakeSeats hands the seats over to who gives them back from now on; nil if there are none.
func (r *Permit) TakeSeats() Seats {
	s := r.seats
	r.seats = nil
	return s
}

// LimitSeats sees to it that the seats are given back after some time, whether or not the permit is released by then.
func (r *Permit) LimitSeats(after time.Duration) {
	if r.seats != nil {
		r.seats = LimitSeats(r.seats, after)
	}
}

// LimitSeats are seats that are given back after some time, if that has not been done before.
func LimitSeats(s Seats, after time.Duration) Seats {
	l := &limitedSeats{finish: sync.OnceFunc(s.Finish)}
	l.timer = time.AfterFunc(after, l.finish)
	return l
}

type limitedSeats struct {
	timer  *time.Timer
	finish func()
}

// Finish implements Seats.
func (l *limitedSeats) Finish() {
	l.timer.Stop()
	l.finish()
}

// ReleaseTurn gives back the slot and the seats. It tells whether there was a slot.
func (r *Permit) ReleaseTurn() bool {
	if s := r.TakeSeats(); s != nil {
		s.Finish()
	}
	return r.ReleaseSlot() != nil
}

// ReleaseSlot gives back the slot, if there is one. It returns where it was taken, so that it can be
// taken again.
func (r *Permit) ReleaseSlot() *Limiter {
	l := r.slot
	if l != nil {
		l.release()
		r.slot = nil
	}
	return l
}

// TryReserve takes bytes of a budget, or tells that there are not as many. All that one permit
// takes has to be of the same budget.
func (r *Permit) TryReserve(b *Budget, n int64, system bool) bool {
	if !b.TryAcquire(n, system) {
		return false
	}
	r.budget, r.bytes = b, r.bytes+n
	return true
}

// Reserve takes bytes of a budget, however few are left.
func (r *Permit) Reserve(b *Budget, n int64) {
	b.acquire(n)
	r.budget, r.bytes = b, r.bytes+n
}

// Release gives back what is held, once.
func (r *Permit) Release() {
	r.ReleaseTurn()
	if r.bytes > 0 {
		r.budget.Release(r.bytes)
	}
	*r = Permit{}
}

// Shrink gives back the bytes beyond n: the body is made.
func (r *Permit) Shrink(n int64) {
	if r.bytes > n {
		r.budget.Release(r.bytes - n)
		r.bytes = n
	}
}
