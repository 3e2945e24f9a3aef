package limits

import "sync/atomic"

// A Limiter bounds how many requests of one sort are in flight. The reserve is what parts of
// the system may have beyond that, so that controllers and nodes can go on while other clients
// overload the server.
type Limiter struct {
	limit, reserve int64 // limit 0: none
	current        atomic.Int64
}

// systemReserveDivisor is the part of a limit that is added to it for parts of the system.
const systemReserveDivisor = 4

// WithReserve is a limit as it is for parts of the system.
func WithReserve(limit int64) int64 { return limit + limit/systemReserveDivisor }

// NewLimiter makes a limiter; limit 0: nothing is refused.
func NewLimiter(limit int) *Limiter {
	return &Limiter{limit: int64(limit), reserve: max(int64(limit)/systemReserveDivisor, 1)}
}

// InFlight is how many requests are in flight.
func (l *Limiter) InFlight() int64 { return l.current.Load() }

// tryAcquire lets one request in, or tells that it may not. system: it comes from a part of the system.
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

// release lets a request out.
func (l *Limiter) release() { l.current.Add(-1) }
