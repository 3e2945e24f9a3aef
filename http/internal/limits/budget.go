package limits

import "sync/atomic"

// A Budget bounds the bytes of all bodies, or of all large responses, at a time, with a reserve for
// system components.
type Budget struct {
	limit   int64
	current atomic.Int64
}

// NewBudget returns a Budget of limit bytes.
func NewBudget(limit int) *Budget { return &Budget{limit: int64(limit)} }

// Used returns the number of acquired bytes.
func (b *Budget) Used() int64 { return b.current.Load() }

// TryAcquire acquires n bytes if available. More than the whole budget is granted only to a single
// holder.
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

// acquire acquires n bytes unconditionally.
func (b *Budget) acquire(n int64) { b.current.Add(n) }

func (b *Budget) Release(n int64) { b.current.Add(-n) }
