package limits

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/internal/metrics"
)

// A Resource is something of which the server has a bounded amount and that requests hold.
type Resource uint8

// The resources. Each is counted in pieces, or in bytes where the name says so.
const (
	Connections   Resource = iota // open
	Streams                       // HTTP/2 requests whose user is not known yet
	Reads                         // requests in flight
	Writes                        // requests in flight
	Watches                       // open
	Upgrades                      // open proxied connections without a deadline
	RequestBytes                  // of bodies that are being received
	ResponseBytes                 // of large responses that are being written
	numResources
)

var resourceNames = [numResources]string{
	"connections", "unauthenticated-streams", "reads", "writes", "watches", "upgrades", "request-bytes", "response-bytes",
}

// String returns the name of the resource as errors and metrics show it.
func (r Resource) String() string { return resourceNames[r] }

// Capacities are the amounts that a server has; 0 is unlimited.
type Capacities [numResources]int64

// A Ledger records which principal holds how much of each resource. Many goroutines may use it.
type Ledger struct {
	pools [numResources]pool

	mu         sync.Mutex // guards principals, and their references
	principals map[principalKey]*Principal
}

// A pool is the account of one resource.
type pool struct {
	capacity int64
	used     atomic.Int64
	rejected [2]atomic.Uint64 // by share and by capacity
}

// A principalKey is the name of a user, or an address of clients without one.
type principalKey struct {
	user    string
	address netip.Addr
}

// NewLedger returns a ledger in which everything is free.
func NewLedger(c Capacities) *Ledger {
	l := &Ledger{principals: map[principalKey]*Principal{}}
	for r := range l.pools {
		l.pools[r].capacity = c[r]
	}
	return l
}

// Used returns how much of a resource is held.
func (l *Ledger) Used(r Resource) int64 { return l.pools[r].used.Load() }

// Rejections returns the counts of rejections by resource and reason, for metrics.
func (l *Ledger) Rejections() metrics.Samples {
	all := metrics.Samples{}
	for r := range l.pools {
		for reason, name := range []string{"share", "capacity"} {
			all[fmt.Sprintf("resource=%q,reason=%q", Resource(r), name)] = l.pools[r].rejected[reason].Load()
		}
	}
	return all
}

// reserveDivisor is the part of a capacity that is added to it for administrators, nodes and system
// components, because they end an overload.
const reserveDivisor = 4

// WithReserve returns a capacity with the reserve.
func WithReserve(capacity int64) int64 { return capacity + max(capacity/reserveDivisor, 1) }

// A Principal is a user, or an address from which nobody has authenticated, and what it holds. Who
// gets one from a Ledger calls Close when it no longer acts for the principal.
//
// A principal takes more of a resource only while its own part is at most what is still free (the
// dynamic threshold of Choudhury and Hahne with α = 1). So one principal alone gets half of
// everything, n of them an n+1st part each, and a newcomer always finds room.
type Principal struct {
	ledger *Ledger
	key    principalKey
	refs   int // guarded by the ledger's mutex
	held   [numResources]atomic.Int64
}

// User returns the principal of a user name.
func (l *Ledger) User(name string) *Principal { return l.principal(principalKey{user: name}) }

// Address returns the principal of clients at an address that are not authenticated.
func (l *Ledger) Address(a netip.Addr) *Principal { return l.principal(principalKey{address: a}) }

func (l *Ledger) principal(key principalKey) *Principal {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.principals[key]
	if p == nil {
		p = &Principal{ledger: l, key: key}
		l.principals[key] = p
	}
	p.refs++
	return p
}

// Retain returns the principal with one more reference, for one more Close.
func (p *Principal) Retain() *Principal {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.refs++
	return p
}

// Close drops a reference. The last one removes the principal from the ledger; what it still holds
// stays counted until it is given back.
func (p *Principal) Close() {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	if p.refs--; p.refs == 0 && p.ledger.principals[p.key] == p {
		delete(p.ledger.principals, p.key)
	}
}

// IsUser reports whether the principal is the user of that name.
func (p *Principal) IsUser(name string) bool { return p.key.user == name && !p.key.address.IsValid() }

// String returns the user or the address for error messages.
func (p *Principal) String() string {
	if p.key.address.IsValid() {
		return "address " + p.key.address.String()
	}
	return fmt.Sprintf("user %q", p.key.user)
}

// Held returns how much of a resource the principal holds.
func (p *Principal) Held(r Resource) int64 { return p.held[r].Load() }

// TryAcquire takes n of a resource, or returns why not. reserved adds the reserve and lifts the
// threshold. An amount larger than the capacity is admitted alone.
func (p *Principal) TryAcquire(r Resource, n int64, reserved bool) *Rejection {
	pool := &p.ledger.pools[r]
	held, used := p.held[r].Add(n), pool.used.Add(n)
	capacity, share := pool.capacity, used // the share of a reserved principal is all of it
	switch {
	case capacity == 0 || used == n:
		return nil
	case reserved:
		capacity = WithReserve(capacity)
	case held > n: // the first is subject to the capacity only
		share = held + used
	}
	if used <= capacity && share <= capacity {
		return nil
	}
	p.Release(r, n)
	e := &Rejection{Resource: r, Principal: p.String(), Held: held - n, Used: used - n, Capacity: capacity}
	pool.rejected[e.index()].Add(1)
	return e
}

// Acquire takes n of a resource, however little is left: for responses that must be sent.
func (p *Principal) Acquire(r Resource, n int64) {
	p.held[r].Add(n)
	p.ledger.pools[r].used.Add(n)
}

// Release gives n of a resource back.
func (p *Principal) Release(r Resource, n int64) {
	p.held[r].Add(-n)
	p.ledger.pools[r].used.Add(-n)
}

// A Rejection names the limit that a request has met.
type Rejection struct {
	Resource             Resource
	Principal            string
	Held, Used, Capacity int64 // before the request
}

// index is 0 if the principal's share is exhausted, and 1 if everything is held.
func (e *Rejection) index() int {
	if e.Used < e.Capacity && e.Held > 0 {
		return 0
	}
	return 1
}

// Error implements error.
func (e *Rejection) Error() string {
	if e.index() == 0 {
		return fmt.Sprintf("%s holds %d %v of %d free ones", e.Principal, e.Held, e.Resource, e.Capacity-e.Used)
	}
	return fmt.Sprintf("all %d %v are in use", e.Capacity, e.Resource)
}
