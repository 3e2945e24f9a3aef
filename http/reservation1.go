package http

// A reservation is what a request takes from the others until its answer is written: a slot among
// the requests in flight, and bytes of the budget of answers. The zero value holds nothing.
type reservation struct {
	slot   *limiter
	budget *budget
	bytes  int64
}

// tryAcquireSlot takes a slot, or tells that there is none.
func (r *reservation) tryAcquireSlot(l *limiter, system bool) bool {
	if !l.tryAcquire(system) {
		return false
	}
	r.slot = l
	return true
}

// releaseSlot gives back the slot, if there is one. It returns where it was taken, so that it can be
// taken again.
func (r *reservation) releaseSlot() *limiter {
	l := r.slot
	if l != nil {
		l.release()
		r.slot = nil
	}
	return l
}

// tryReserve takes bytes of a budget, or tells that there are not as many. All that one reservation
// takes has to be of the same budget.
func (r *reservation) tryReserve(b *budget, n int64, system bool) bool {
	if !b.tryAcquire(n, system) {
		return false
	}
	r.budget, r.bytes = b, r.bytes+n
	return true
}

// reserve takes bytes of a budget, however few are left.
func (r *reservation) reserve(b *budget, n int64) {
	b.acquire(n)
	r.budget, r.bytes = b, r.bytes+n
}

// release gives back what is held, once.
func (r *reservation) release() {
	r.releaseSlot()
	if r.bytes > 0 {
		r.budget.release(r.bytes)
	}
	*r = reservation{}
}

// shrink gives back the bytes beyond n: the body is made.
func (r *reservation) shrink(n int64) {
	if r.bytes > n {
		r.budget.release(r.bytes - n)
		r.bytes = n
	}
}
