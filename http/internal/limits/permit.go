package limits

import (
	"sync"
	"time"
)

// Seats are granted by flow control. Finish releases them and is called once.
type Seats interface{ Finish() }

// A Permit holds the resources of one request until its handler returns, or until a streamed
// response is written. The zero value is empty and cannot acquire.
type Permit struct {
	principal  *Principal
	reserved   bool // an administrator, a node or a system component
	held       [numResources]int64
	seats      Seats
	referenced bool // the permit has its own reference to the principal
}

// NewPermit returns an empty permit for a principal. reserved allows it to use the reserves.
func NewPermit(p *Principal, reserved bool) Permit { return Permit{principal: p, reserved: reserved} }

// Reserved reports whether the permit may use the reserves.
func (p *Permit) Reserved() bool { return p.reserved }

// TryAcquire takes n of a resource, or returns a *Rejection.
func (p *Permit) TryAcquire(r Resource, n int64) error {
	if e := p.principal.TryAcquire(r, n, p.reserved); e != nil {
		return e
	}
	p.held[r] += n
	return nil
}

// Acquire takes n of a resource unconditionally.
func (p *Permit) Acquire(r Resource, n int64) {
	p.principal.Acquire(r, n)
	p.held[r] += n
}

// ReleaseBeyond releases the holding of a resource beyond n, and reports whether there was any.
func (p *Permit) ReleaseBeyond(r Resource, n int64) bool {
	excess := p.held[r] - n
	if excess <= 0 {
		return false
	}
	p.principal.Release(r, excess)
	p.held[r] = n
	return true
}

// Split moves the holding of a resource to a new permit, which may outlive the connection.
func (p *Permit) Split(r Resource) Permit {
	part := Permit{principal: p.principal.Retain(), reserved: p.reserved, referenced: true}
	part.held[r], p.held[r] = p.held[r], 0
	return part
}

// ReleaseTurn releases the seats and the slot of a request in flight. It reports whether there was
// a slot.
func (p *Permit) ReleaseTurn() bool {
	if s := p.TakeSeats(); s != nil {
		s.Finish()
	}
	reads := p.ReleaseBeyond(Reads, 0)
	return p.ReleaseBeyond(Writes, 0) || reads
}

// Release releases everything, once.
func (p *Permit) Release() {
	if s := p.seats; s != nil {
		s.Finish()
	}
	for r, n := range p.held {
		if n > 0 {
			p.principal.Release(Resource(r), n)
		}
	}
	if p.referenced {
		p.principal.Close()
	}
	*p = Permit{}
}

// HoldSeats stores the seats granted by flow control.
func (p *Permit) HoldSeats(s Seats) { p.seats = s }

// TakeSeats transfers the seats to the caller, who must finish them; nil if there are none.
func (p *Permit) TakeSeats() Seats {
	s := p.seats
	p.seats = nil
	return s
}

// LimitSeats finishes the seats after a time even if the permit is not released by then.
func (p *Permit) LimitSeats(after time.Duration) {
	if p.seats != nil {
		p.seats = LimitSeats(p.seats, after)
	}
}

// LimitSeats returns seats that finish after a time at the latest.
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
