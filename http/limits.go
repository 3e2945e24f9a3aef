package http

import (
	"errors"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authn/serviceaccount"
	"github.com/troupe-api/troupe/policy/flowcontrol"
)

// watchesPerUpgrade is the number of watches that use as much memory as one proxied connection,
// which has a second connection and buffers for both directions.
const watchesPerUpgrade = 16

// maxUnknownStreams limits the HTTP/2 requests whose users are not known yet.
const maxUnknownStreams = 4096

// capacities returns the capacity of each resource. Reads and writes have separate limits, so that
// a flood of one does not affect the other. With flow control, the sum of both limits is the total
// number of seats, and reads or writes may occupy all of them.
func (o *Options) capacities() limits.Capacities {
	l := o.Limits
	c := limits.Capacities{
		limits.Reads: int64(l.MaxRequestsInFlight), limits.Writes: int64(l.MaxMutatingRequestsInFlight),
		limits.Watches: int64(l.MaxWatches), limits.Upgrades: max(int64(l.MaxWatches)/watchesPerUpgrade, 1),
		limits.RequestBytes: int64(l.MaxTotalBodyBytes), limits.ResponseBytes: int64(l.MaxResponseBytes),
		limits.Connections: int64(l.MaxConnections), limits.Streams: maxUnknownStreams,
	}
	if o.FlowControl != nil {
		all := c[limits.Reads] + c[limits.Writes]
		c[limits.Reads], c[limits.Writes] = all, all
	}
	return c
}

// reserves identifies the users who may use the reserve of each limit: administrators, nodes and
// system components.
type reserves struct {
	groups []string
	prefix string // of user names, such as "system:kube-"
}

func newReserves(n *meta.Naming) reserves {
	return reserves{
		groups: []string{authn.GroupMasters, authn.GroupNodes, serviceaccount.Group + ":" + n.SystemNamespace()},
		prefix: "system:" + strings.TrimSuffix(n.SystemNamespace(), "system"),
	}
}

func (r *reserves) admit(u *authn.User) bool {
	return strings.HasPrefix(u.Name, r.prefix) || slices.ContainsFunc(r.groups, u.InGroup)
}

// acquireTurn waits for flow control seats and takes an in-flight slot. A watch holds a read slot
// until it has started, but counts as an open watch immediately.
//
// If no slot is free, acquireTurn fails without waiting. Flow control already has bounded queues.
// Health checks are exempt, because they must work under overload.
func (s *Server) acquireTurn(x *requestContext) error {
	if err := s.acquireSeats(x); err != nil {
		return err
	}
	slot := limits.Writes
	switch {
	case !x.info.IsResource && isHealth(x.info.Path):
		return nil
	case x.info.Method == "GET" || x.info.Method == "HEAD":
		slot = limits.Reads
	}
	if err := x.permit.TryAcquire(slot, 1); err != nil {
		return tooManyRequests(err)
	}
	if x.info.Verb != "watch" {
		return nil
	}
	if err := x.permit.TryAcquire(limits.Watches, 1); err != nil {
		return tooManyRequests(err)
	}
	return nil
}

// tooManyRequests converts the error for an exceeded limit to a 429 whose cause names the limit. It
// returns other errors unchanged.
func tooManyRequests(err error) error {
	status := apierrors.TooManyRequests()
	var limit *limits.Rejection
	var seats *flowcontrol.RejectedError
	switch {
	case errors.As(err, &limit):
		status.Details.Causes = []meta.Cause{{Type: meta.CauseType(limit.Resource.String()), Message: limit.Error()}}
	case errors.As(err, &seats):
		status.Details.Causes = []meta.Cause{{Type: meta.CauseType(seats.Reason), Message: seats.Error()}}
		status.Details.RetryAfterSeconds = seats.RetryAfter
	default:
		return err
	}
	return status
}
