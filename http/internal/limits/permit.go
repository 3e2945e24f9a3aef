package limits

import (
	"sync"
	"time"
)

// Seats represents the seats that flow control granted to a request. Finish releases them and must
// be called exactly once.
type Seats interface{ Finish() }

// A Permit holds the resources of one request until its handler returns or its streamed response is
// written. The zero value is empty and cannot acquire anything.
type Permit struct {
	Principal *Principal
	// Reserved allows the request to use the reserves, which are for administrators, nodes and
	// system components.
	Reserved bool
	// Seats holds the seats that flow control granted. It is nil if flow control is disabled.
	Seats Seats

	held       [numResources]int64
	referenced bool // the permit has its own reference to the principal
}

// TryAcquire acquires n units of a resource. The error is a *Rejection.
func (p *Permit) TryAcquire(r Resource, n int64) error {
	if e := p.Principal.TryAcquire(r, n, n, p.Reserved); e != nil {
		return e
	}
	p.held[r] += n
	return nil
}

// Raise increases the held amount of a resource to at least n, even beyond the capacity.
func (p *Permit) Raise(r Resource, n int64) {
	if missing := n - p.held[r]; missing > 0 {
		p.Principal.Acquire(r, missing)
		p.held[r] = n
	}
}

// ReleaseBeyond reduces the held amount of a resource to n, and reports whether the permit held
// more than n.
func (p *Permit) ReleaseBeyond(r Resource, n int64) bool {
	excess := p.held[r] - n
	if excess <= 0 {
		return false
	}
	p.Principal.Release(r, excess)
	p.held[r] = n
	return true
}

// Split moves the held amount of a resource to a new Permit. The new Permit is released separately
// and may outlive the request's connection.
func (p *Permit) Split(r Resource) Permit {
	part := Permit{Principal: p.Principal.Retain(), Reserved: p.Reserved, referenced: true}
	part.held[r], p.held[r] = p.held[r], 0
	return part
}

// ReleaseTurn releases the seats and the in-flight slot of a request. It reports whether the
// request held a slot.
func (p *Permit) ReleaseTurn() bool {
	if s := p.TakeSeats(); s != nil {
		s.Finish()
	}
	reads := p.ReleaseBeyond(Reads, 0)
	return p.ReleaseBeyond(Writes, 0) || reads
}

// Release releases all resources and seats. Later calls do nothing.
func (p *Permit) Release() {
	if p.Seats != nil {
		p.Seats.Finish()
	}
	for r, n := range p.held {
		if n > 0 {
			p.Principal.Release(Resource(r), n)
		}
	}
	if p.referenced {
		p.Principal.Close()
	}
	*p = Permit{}
}

// TakeSeats transfers the seats to the caller, which must call Finish. It returns nil if the permit
// has no seats.
func (p *Permit) TakeSeats() Seats {
	s := p.Seats
	p.Seats = nil
	return s
}

// LimitSeats releases the seats after the given time, even if the permit is still held.
func (p *Permit) LimitSeats(after time.Duration) {
	if p.Seats != nil {
		p.Seats = LimitSeats(p.Seats, after)
	}
}

// LimitSeats wraps s so that Finish is called at the latest after the given time.
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
