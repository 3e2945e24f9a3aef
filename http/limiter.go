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
	// groups and prefix (of names) tell the users that are parts of the system.
	groups []string
	prefix string
}

func (l *limiters) init(o Limits, n *meta.Naming) {
	l.readOnly, l.mutating, l.health = limits.NewLimiter(o.MaxRequestsInFlight), limits.NewLimiter(o.MaxMutatingRequestsInFlight), limits.NewLimiter(0)
	l.watches = int64(o.MaxWatches)
	l.groups = []string{authn.GroupMasters, authn.GroupNodes, serviceaccount.Group + ":" + n.SystemNamespace()}
	l.prefix = "system:" + strings.TrimSuffix(n.SystemNamespace(), "system")
}

// acquireSlot lets a request in, which keeps its slot until its answer is written.
func (s *Server) acquireSlot(x *requestContext) error {
	l, system := &s.limiters, s.limiters.isSystemUser(x.user)
	sort := l.limiterFor(x)
	if x.info.Verb == "watch" {
		bound := l.watches
		if system {
			bound = limits.WithReserve(bound)
		}
		if l.openWatches.Load() >= bound {
			return apierrors.TooManyRequests()
		}
	}
	if !x.permit.TryAcquireSlot(sort, system) {
		return apierrors.TooManyRequests()
	}
	return nil
}

func (l *limiters) limiterFor(x *requestContext) *limits.Limiter {
	switch {
	case !x.info.IsResource && isHealth(x.info.Path):
		return l.health
	case x.method == "GET" || x.method == "HEAD":
		return l.readOnly
	}
	return l.mutating
}

// isSystemUser tells users that are parts of the system.
func (l *limiters) isSystemUser(u *authn.User) bool {
	return strings.HasPrefix(u.Name, l.prefix) || slices.ContainsFunc(l.groups, u.InGroup)
}
