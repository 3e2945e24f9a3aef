package http

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// limiters bound requests in flight, reads apart from writes, so that a flood of one leaves the other
// alone. Health paths have no bound: they must answer under overload. A watch counts as a read until it
// runs; watches that run have a bound of their own.
type limiters struct {
	readOnly, mutating, health *limits.Limiter
	watches                    int64 // that may be open
	openWatches                atomic.Int64
	openProxied                atomic.Int64 // long-running requests that are passed on
	// groups and prefix (of names) tell the users that are parts of the system.
	groups []string
	prefix string
}

// With flow control, which has as many seats as both limits together, reads and writes each have all of that: it is the
// outer bound, also of what is exempt.
//
// The prefix is "system:" and that of the components, as in "system:platform-" for the namespace platform-system.
func (l *limiters) init(o Limits, n *meta.Naming, flowControl bool) {
	reads, writes := o.MaxRequestsInFlight, o.MaxMutatingRequestsInFlight
	if flowControl {
		reads, writes = reads+writes, reads+writes
	}
	l.readOnly, l.mutating, l.health = limits.NewLimiter(reads), limits.NewLimiter(writes), limits.NewLimiter(0)
	l.watches = int64(o.MaxWatches)
	l.groups = []string{authn.GroupMasters, authn.GroupNodes, serviceaccount.Group + ":" + n.SystemNamespace()}
	l.prefix = "system:" + strings.TrimSuffix(n.SystemNamespace(), "system")
}

// acquireSlot lets a request in. It keeps its slot as long as its Permit.
//
// Nobody waits for a slot, since those who may wait have done so before, for seats: a queue without bounds would only move the overload into memory, and clients know from a 429 when to come
// again. Parts of the system may use a reserve, because they are what ends an overload.
func (s *Server) acquireSlot(x *requestContext) error {
	l, system := &s.limiters, s.limiters.isSystemUser(x.attributes.User)
	sort := l.limiterFor(x)
	if x.info.Verb == "watch" && l.openWatches.Load() >= l.watchBound(system) {
		return apierrors.TooManyRequests()
	}
	if !x.permit.TryAcquireSlot(sort, system) {
		return apierrors.TooManyRequests()
	}
	return nil
}

// watchBound is how many watches may be open; as many other long-running requests may be.
func (l *limiters) watchBound(system bool) int64 {
	if system {
		return limits.WithReserve(l.watches)
	}
	return l.watches
}

func (l *limiters) limiterFor(x *requestContext) *limits.Limiter {
	switch {
	case !x.info.IsResource && isHealth(x.info.Path):
		return l.health
	case x.info.Method == "GET" || x.info.Method == "HEAD":
		return l.readOnly
	}
	return l.mutating
}

// isSystemUser tells users that are parts of the system.
func (l *limiters) isSystemUser(u *authn.User) bool {
	return strings.HasPrefix(u.Name, l.prefix) || slices.ContainsFunc(l.groups, u.InGroup)
}
