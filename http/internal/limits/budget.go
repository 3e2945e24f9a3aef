package limits

import "sync/atomic"

// A Budget is how many bytes all bodies, or all large answers that are being written, may take at a
// time. Parts of the system may have somewhat more than others.
type Budget struct {
	limit   int64
	current atomic.Int64
}

// NewBudget makes a budget of so many bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: int64(limit)} }

// Used is how many bytes are taken.
func (b *Budget) Used() int64 { return b.current.Load() }

// TryAcquire takes n bytes, or tells that there are not as many. What is larger than the whole budget has
// to be the only one.
func (b *Budget) TryAcquire(n int64, system bool) bool {
	limit := b.limit
	if system {
		limit = WithReserve(limit)
	}
	if used := b.current.Add(n); used > limit && used > n {
		b.current.Add(-n)
		return false
	}
	return true
}

// acquire takes n bytes, however few are left: for what has to be answered in any case.
func (b *Budget) acquire(n int64) { b.current.Add(n) }

// Release gives n bytes back.
func (b *Budget) Release(n int64) { b.current.Add(-n) }
