package http

import "sync/atomic"

// A budget is how many bytes all bodies, or all large answers that are being written, may take at a
// time. Parts of the system may have somewhat more than others.
type budget struct {
	limit int64
	used  atomic.Int64
}

// newBudget makes a budget of so many bytes.
func newBudget(limit int) *budget { return &budget{limit: int64(limit)} }

// usedNow is how many bytes are taken.
func (b *budget) usedNow() int64 { return b.used.Load() }

// tryAcquire takes n bytes, or tells that there are not as many. What is larger than the whole budget has
// to be the only one.
func (b *budget) tryAcquire(n int64, system bool) bool {
	limit := b.limit
	if system {
		limit = withReserve(limit)
	}
	if used := b.used.Add(n); used > limit && used > n {
		b.used.Add(-n)
		return false
	}
	return true
}

// acquire takes n bytes, however few are left: for what has to be answered in any case.
func (b *budget) acquire(n int64) { b.used.Add(n) }

// release gives n bytes back.
func (b *budget) release(n int64) { b.used.Add(-n) }
