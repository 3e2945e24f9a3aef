package limits

import "sync/atomic"

// A Limiter bounds the requests of one kind in flight. The reserve is for system components, so
// that controllers and nodes can go on while other clients overload the server.
type Limiter struct {
	limit, reserve int64 // limit 0: unlimited
	current        atomic.Int64
}

// systemReserveDivisor is the fraction of a limit added for system components.
const systemReserveDivisor = 4

// WithReserve returns limit plus the reserve.
func WithReserve(limit int64) int64 { return limit + limit/systemReserveDivisor }

// NewLimiter returns a Limiter; 0 is unlimited.
func NewLimiter(limit int) *Limiter {
	return &Limiter{limit: int64(limit), reserve: max(int64(limit)/systemReserveDivisor, 1)}
}

// InFlight returns the number of requests in flight.
func (l *Limiter) InFlight() int64 { return l.current.Load() }

// tryAcquire admits a request if possible.
func (l *Limiter) tryAcquire(system bool) bool {
	limit := l.limit
	if system {
		limit += l.reserve
	}
	if n := l.current.Add(1); l.limit > 0 && n > limit {
		l.current.Add(-1)
		return false
	}
	return true
}

func (l *Limiter) release() { l.current.Add(-1) }
