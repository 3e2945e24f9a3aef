package http

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
)

// A limiter bounds how many requests of one sort are in flight. The reserve is what parts of
// the system may have beyond that, so that they can go on while everybody else is too much.
type limiter struct {
	kind           string // label of its metric
	limit, reserve int64  // limit 0: none
	inFlight       atomic.Int64
}

// systemReserveDivisor is the part of a limit that is added to it for the system.
const systemReserveDivisor = 4

func (l *limiter) init(kind string, limit int) {
	l.kind, l.limit, l.reserve = kind, int64(limit), max(int64(limit)/systemReserveDivisor, 1)
}

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

func (l *limiter) release() { l.inFlight.Add(-1) }

// limiters hold the sorts. Health paths have none: they must answer under overload. A watch
// is a read until it runs; how many run has a bound of its own.
type limiters struct {
	readOnly, mutating, health limiter
	watches                    int64
	// groups and prefix (of names) tell the users that are parts of the system.
	groups []string
	prefix string
}

func (l *limiters) init(o Limits, n *meta.Naming) {
	l.readOnly.init("readOnly", o.MaxRequestsInFlight)
	l.mutating.init("mutating", o.MaxMutatingRequestsInFlight)
	l.watches = int64(o.MaxWatches)
	l.groups = []string{authn.GroupMasters, authn.GroupNodes, serviceaccount.Group + ":" + n.SystemNamespace()}
	l.prefix = "system:" + strings.TrimSuffix(n.SystemNamespace(), "system")
}

// acquireSlot lets a request in, which holds its place from then on.
func (s *Server) acquireSlot(x *requestContext) error {
	l, system := &s.limiters, s.limiters.isSystemUser(x.user)
	sort := l.limiterFor(x)
	if x.info.Verb == "watch" {
		bound := l.watches
		if system {
			bound += bound / systemReserveDivisor
		}
		if s.metrics.watches.Load() >= bound {
			return tooManyRequests()
		}
	}
	if !sort.tryAcquire(system) {
		return tooManyRequests()
	}
	x.reservation.limiter = sort
	return nil
}

func (l *limiters) limiterFor(x *requestContext) *limiter {
	switch {
	case !x.info.IsResource && isHealth(x.info.Path):
		return &l.health
	case x.method == "GET" || x.method == "HEAD":
		return &l.readOnly
	}
	return &l.mutating
}

// isSystemUser tells users that are parts of the system.
func (l *limiters) isSystemUser(u *authn.User) bool {
	return strings.HasPrefix(u.Name, l.prefix) || slices.ContainsFunc(l.groups, u.InGroup)
}
