package limits

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"

	"github.com/troupe-api/troupe/internal/metrics"
)

// A Resource is a limited server resource, such as connections or response bytes.
type Resource uint8

// The resources, each measured as a count or in bytes.
const (
	Connections   Resource = iota // open
	Streams                       // HTTP/2 requests of unknown users
	Reads                         // requests in flight
	Writes                        // requests in flight
	Watches                       // open
	Upgrades                      // open proxied connections without a deadline
	RequestBytes                  // of bodies being received
	ResponseBytes                 // of large responses being written
	Memory                        // for the work of writes
	numResources
)

var resourceNames = [numResources]string{
	"connections", "unauthenticated-streams", "reads", "writes", "watches", "upgrades", "request-bytes", "response-bytes",
	"memory",
}

// String returns the name used in errors and metrics.
func (r Resource) String() string { return resourceNames[r] }

// Capacities holds the capacity of each resource. 0 means unlimited.
type Capacities [numResources]int64

// A Ledger records the resources held by each principal. It is safe for concurrent use.
type Ledger struct {
	pools [numResources]pool

	mu         sync.Mutex // guards principals, their refs, and offers
	principals map[principalKey]*Principal
}

type pool struct {
	capacity atomic.Int64
	used     atomic.Int64
	rejected [len(reasons)]atomic.Uint64
	offers   Owners[Item] // guarded by the ledger's mutex
}

// The reasons for rejections. byReclaim counts items that were ended to admit another request.
const (
	byShare = iota
	byCapacity
	byReclaim
)

var reasons = [...]string{"share", "capacity", "reclaimed"}

type principalKey struct {
	user    string
	address netip.Addr
}

// NewLedger returns a Ledger with the given capacities.
func NewLedger(c Capacities) *Ledger {
	l := &Ledger{principals: map[principalKey]*Principal{}}
	for r := range l.pools {
		l.pools[r].capacity.Store(c[r])
		l.pools[r].offers = Owners[Item]{}
	}
	return l
}

// SetCapacity changes the capacity of a resource.
func (l *Ledger) SetCapacity(r Resource, capacity int64) { l.pools[r].capacity.Store(capacity) }

// Used returns the total amount of a resource that all principals hold.
func (l *Ledger) Used(r Resource) int64 { return l.pools[r].used.Load() }

// Rejections returns the number of rejections by resource and reason, for metrics.
func (l *Ledger) Rejections() metrics.Samples {
	all := metrics.Samples{}
	for r := range l.pools {
		for reason, name := range reasons {
			all[fmt.Sprintf("resource=%q,reason=%q", Resource(r), name)] = l.pools[r].rejected[reason].Load()
		}
	}
	return all
}

// reserveDivisor sets the reserve to a quarter of each capacity. The reserve allows
// administrators, nodes and system components to end an overload.
const reserveDivisor = 4

// A Principal is a user, or the address of unauthenticated clients, and the resources it holds.
// Every reference obtained from the Ledger or Retain must be closed.
//
// A principal may acquire more of a resource only while it holds no more than the free amount.
// This is the dynamic threshold of Choudhury and Hahne with α = 1. A single principal gets at
// most half of the capacity, and n principals get 1/(n+1) each, so some capacity is always free
// for a new principal.
type Principal struct {
	User string // "" for an address

	ledger *Ledger
	key    principalKey
	refs   int // guarded by the ledger's mutex
	held   [numResources]atomic.Int64
}

// ForUser returns the principal of a user.
func (l *Ledger) ForUser(name string) *Principal { return l.principal(principalKey{user: name}) }

// ForAddress returns the principal of unauthenticated clients at an address.
func (l *Ledger) ForAddress(a netip.Addr) *Principal { return l.principal(principalKey{address: a}) }

func (l *Ledger) principal(key principalKey) *Principal {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.principals[key]
	if p == nil {
		p = &Principal{User: key.user, ledger: l, key: key}
		l.principals[key] = p
	}
	p.refs++
	return p
}

// Retain adds a reference, which must also be closed.
func (p *Principal) Retain() *Principal {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.refs++
	return p
}

// Close drops a reference. The last Close removes the principal from the ledger. Resources still
// held by the principal count until they are released.
func (p *Principal) Close() {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	if p.refs--; p.refs == 0 && p.ledger.principals[p.key] == p {
		delete(p.ledger.principals, p.key)
	}
}

// String formats the user or address for error messages.
func (p *Principal) String() string {
	if p.key.address.IsValid() {
		return "address " + p.key.address.String()
	}
	return fmt.Sprintf("user %q", p.User)
}

// Held returns the amount of a resource that the principal holds.
func (p *Principal) Held(r Resource) int64 { return p.held[r].Load() }

// TryAcquire acquires n units of a resource for an item, such as a body, which then holds total
// units. It returns nil on success, and otherwise the exceeded limit. Before it fails, it tries
// to end an item of a principal that holds more.
//
// A principal's only item may exceed the threshold, and the only item of all principals may
// exceed the capacity. If reserved is true, the threshold does not apply, and the reserve is
// added to the capacity.
func (p *Principal) TryAcquire(r Resource, n, total int64, reserved bool) *Rejection {
	pool := &p.ledger.pools[r]
	held, used, capacity := p.held[r].Add(n), pool.used.Add(n), pool.capacity.Load()
	unlimited := capacity == 0
	if reserved {
		capacity += max(capacity/reserveDivisor, 1)
	}
	if unlimited || used == total || used <= capacity && (reserved || held == total || held+used <= capacity) || p.reclaim(r) {
		return nil
	}
	p.Release(r, n)
	return p.reject(r, held-n, used-n, capacity)
}

func (p *Principal) reject(r Resource, held, used, capacity int64) *Rejection {
	e := &Rejection{Resource: r, Principal: p.String(), Held: held, Used: used, Capacity: capacity}
	p.ledger.pools[r].rejected[e.reason()].Add(1)
	return e
}

// Acquire acquires n units of a resource even beyond its capacity, for responses that must be
// sent.
func (p *Principal) Acquire(r Resource, n int64) {
	p.held[r].Add(n)
	p.ledger.pools[r].used.Add(n)
}

// ExceedsShare reports whether acquiring n more units of a resource would exceed the principal's
// threshold.
func (p *Principal) ExceedsShare(r Resource, n int64) bool {
	pool := &p.ledger.pools[r]
	held, used, capacity := p.held[r].Load()+n, pool.used.Load()+n, pool.capacity.Load()
	return capacity > 0 && held > 1 && held+used > capacity
}

// Reject counts and returns a rejection. The principal must already hold the n rejected units,
// which the caller must release afterward.
func (p *Principal) Reject(r Resource, n int64) *Rejection {
	pool := &p.ledger.pools[r]
	return p.reject(r, p.held[r].Load()-n, pool.used.Load()-n, pool.capacity.Load())
}

// Release releases n units of a resource.
func (p *Principal) Release(r Resource, n int64) {
	p.held[r].Add(-n)
	p.ledger.pools[r].used.Add(-n)
}

// A Rejection describes the limit that a request would exceed.
type Rejection struct {
	Resource             Resource
	Principal            string
	Held, Used, Capacity int64 // before the request
}

func (e *Rejection) reason() int {
	if e.Used < e.Capacity && e.Held > 0 {
		return byShare
	}
	return byCapacity
}

func (e *Rejection) Error() string {
	if e.reason() == byShare {
		return fmt.Sprintf("%s holds %d %v of a share of %d", e.Principal, e.Held, e.Resource, e.Capacity-e.Used)
	}
	return fmt.Sprintf("all %d %v are in use", e.Capacity, e.Resource)
}
