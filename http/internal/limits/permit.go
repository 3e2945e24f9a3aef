package limits

import (
	"sync"
	"time"
)

// Seats are granted by flow control. Finish releases them and must be called once.
type Seats interface{ Finish() }

// A Permit is what a request holds until its handler returns, or its streamed response is written:
// seats of flow control, a slot of a Limiter, and bytes of a Budget. The zero value holds nothing.
type Permit struct {
	seats  Seats
	slot   *Limiter
	budget *Budget
	bytes  int64
}

func (r *Permit) TryAcquireSlot(l *Limiter, system bool) bool {
	if !l.tryAcquire(system) {
		return false
	}
	r.slot = l
	return true
}

// HoldSeats stores seats, to be released with the permit.
func (r *Permit) HoldSeats(s Seats) { r.seats = s }

// TakeSeats transfers the seats to the caller; nil if there are none.
func (r *Permit) TakeSeats() Seats {
	s := r.seats
	r.seats = nil
	return s
}

// LimitSeats releases the seats after a time, if the permit has not been released.
func (r *Permit) LimitSeats(after time.Duration) {
	if r.seats != nil {
		r.seats = LimitSeats(r.seats, after)
	}
}

// LimitSeats returns seats that are released after a time, unless finished before.
func LimitSeats(s Seats, after time.Duration) Seats {
	l := &limitedSeats{finish: sync.OnceFunc(s.Finish)}
	l.timer = time.AfterFunc(after, l.finish)
	return l
}

type limitedSeats struct {
	timer  *time.Timer
	finish func()
}

func (l *limitedSeats) Finish() {
	l.timer.Stop()
	l.finish()
}

// ReleaseTurn releases slot and seats, and reports whether there was a slot.
func (r *Permit) ReleaseTurn() bool {
	if s := r.TakeSeats(); s != nil {
		s.Finish()
	}
	return r.ReleaseSlot() != nil
}

// ReleaseSlot releases the slot, if any, and returns its Limiter, so that it can be acquired again.
func (r *Permit) ReleaseSlot() *Limiter {
	l := r.slot
	if l != nil {
		l.release()
		r.slot = nil
	}
	return l
}

// TryReserve acquires bytes of a budget. A permit must always use the same budget.
func (r *Permit) TryReserve(b *Budget, n int64, system bool) bool {
	if !b.TryAcquire(n, system) {
		return false
	}
	r.budget, r.bytes = b, r.bytes+n
	return true
}

// Reserve acquires bytes unconditionally.
func (r *Permit) Reserve(b *Budget, n int64) {
	b.acquire(n)
	r.budget, r.bytes = b, r.bytes+n
}

// Release releases everything. Later calls do nothing.
func (r *Permit) Release() {
	r.ReleaseTurn()
	if r.bytes > 0 {
		r.budget.Release(r.bytes)
	}
	*r = Permit{}
}

// Shrink releases the bytes beyond n, after the body was built.
func (r *Permit) Shrink(n int64) {
	if r.bytes > n {
		r.budget.Release(r.bytes - n)
		r.bytes = n
	}
}
