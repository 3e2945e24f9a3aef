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
	current        atomic.Int64
}

// reserved is the part of a limit that is added to it for the system.
const reserved = 4

func (l *limiter) init(kind string, limit int) {
	l.kind, l.limit, l.reserve = kind, int64(limit), max(int64(limit)/reserved, 1)
}

// enter lets one request in, or tells that it may not. system: it comes from a part of the system.
func (l *limiter) enter(system bool) bool {
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

func (l *limiter) leave() { l.current.Add(-1) }

// limiters hold the sorts. Health paths have none: they must answer under overload. A watch
// is a read until it runs; how many run has a bound of its own.
type limiters struct {
	reading, mutating, health limiter
	watches                   int64
	// groups and prefix (of names) tell the users that are parts of the system.
	groups []string
	prefix string
}

func (l *limiters) init(o Limits, n *meta.Naming) {
	l.reading.init("readOnly", o.MaxRequestsInFlight)
	l.mutating.init("mutating", o.MaxMutatingRequestsInFlight)
	l.watches = int64(o.MaxWatches)
	l.groups = []string{authn.GroupMasters, authn.GroupNodes, serviceaccount.Group + ":" + n.SystemNamespace()}
	l.prefix = "system:" + strings.TrimSuffix(n.SystemNamespace(), "system")
}

// limit lets a request in, which holds its place from then on.
func (s *Server) limit(x *exchange) error {
	l, system := &s.limiters, s.limiters.system(x.user)
	sort := l.of(x)
	if x.info.Verb == "watch" {
		bound := l.watches
		if system {
			bound += bound / reserved
		}
		if s.metrics.watches.Load() >= bound {
			return tooManyRequests()
		}
	}
	if !sort.enter(system) {
		return tooManyRequests()
	}
	x.hold.limiter = sort
	return nil
}

func (l *limiters) of(x *exchange) *limiter {
	switch {
	case !x.info.IsResource && isHealth(x.info.Path):
		return &l.health
	case x.method == "GET" || x.method == "HEAD":
		return &l.reading
	}
	return &l.mutating
}

// system tells users that are parts of the system.
func (l *limiters) system(u *authn.User) bool {
	return strings.HasPrefix(u.Name, l.prefix) || slices.ContainsFunc(l.groups, u.InGroup)
}
