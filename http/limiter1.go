package http

import "sync/atomic"

// A limiter bounds how many requests of one sort are in flight. The reserve is what parts of
// the system may have beyond that, so that controllers and nodes can go on while other clients
// overload the server.
type limiter struct {
	limit, reserve int64 // limit 0: none
	inFlight       atomic.Int64
}

// systemReserveDivisor is the part of a limit that is added to it for parts of the system.
const systemReserveDivisor = 4

// withReserve is a limit as it is for parts of the system.
func withReserve(limit int64) int64 { return limit + limit/systemReserveDivisor }

// newLimiter makes a limiter; limit 0: nothing is refused.
func newLimiter(limit int) *limiter {
	return &limiter{limit: int64(limit), reserve: max(int64(limit)/systemReserveDivisor, 1)}
}

// inFlightNow is how many requests are in flight.
func (l *limiter) inFlightNow() int64 { return l.inFlight.Load() }

// tryAcquire lets one request in, or tells that it may not. system: it comes from a part of the system.
func (l *limiter) tryAcquire(system bool) bool {
	limit := l.limit
	if system {
		limit += l.reserve
	}
	if n := l.inFlight.Add(1); l.limit > 0 && n > limit {
		l.inFlight.Add(-1)
		return false
	}
	return true
}

// release lets a request out.
func (l *limiter) release() { l.inFlight.Add(-1) }
