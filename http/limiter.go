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

// limiters limit requests in flight, separately for reads and writes, so that a flood of one does
// not affect the other. Health paths have no limit, since they must work under overload. A watch
// counts as a read until it runs; running watches have their own limit.
type limiters struct {
	readOnly, mutating, health *limits.Limiter
	watches                    int64 // limit of open watches
	openWatches                atomic.Int64
	openProxied                atomic.Int64 // proxied long-running requests
	// groups and prefix (of names) identify users that are parts of the system.
	groups []string
	prefix string
}

// With flow control, which has the seats of both limits together, that sum is the outer limit of
// reads and of writes, even for exempt requests. The prefix is "system:" and that of the
// components, as in "system:platform-" for the namespace platform-system.
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

// acquireSlot admits a request, which keeps its slot as long as its Permit. It does not wait: an
// unbounded queue would only move the overload into memory, and clients retry after a 429. Parts of
// the system may use a reserve, because they end overloads.
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

// watchBound returns the limit of open watches, which other long-running requests share.
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

func (l *limiters) isSystemUser(u *authn.User) bool {
	return strings.HasPrefix(u.Name, l.prefix) || slices.ContainsFunc(l.groups, u.InGroup)
}
