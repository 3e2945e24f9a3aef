package limits

// A Permit is what a request takes from the others until its answer is written: a slot among
// the requests in flight, and bytes of the budget of answers. The zero value holds nothing.
type Permit struct {
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
	r.ReleaseSlot()
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
