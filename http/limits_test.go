package http

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

func newLimitedServer(l Limits, n *meta.Naming) *Server {
	o := Options{Limits: l}
	return &Server{reserves: newReserves(n), ledger: limits.NewLedger(o.capacities())}
}

func (s *Server) newLimitedRequest(u *authn.User, i requestinfo.Info) *requestContext {
	return &requestContext{
		attributes: authz.Attributes{User: u}, info: i,
		permit: limits.Permit{Principal: s.ledger.ForUser(u.Name), Reserved: s.reserves.admit(u)},
	}
}

// TestLimits tests that each user has a share of the limits for reads, writes and watches, that
// administrators and nodes have a reserve, and that health checks are exempt.
func TestLimits(t *testing.T) {
	s := newLimitedServer(Limits{MaxRequestsInFlight: 12, MaxMutatingRequestsInFlight: 6, MaxWatches: 4}, meta.Kubernetes)
	jane := &authn.User{Name: "jane", Groups: []string{authn.GroupAuthenticated}}
	joe := &authn.User{Name: "joe", Groups: []string{authn.GroupAuthenticated}}
	node := &authn.User{Name: "system:node:a", Groups: []string{"system:nodes"}}
	fill := func(want int, u *authn.User, method, verb string) {
		t.Helper()
		n := 0
		for s.acquireTurn(s.newLimitedRequest(u, requestinfo.Info{IsResource: true, Method: method, Verb: verb})) == nil {
			n++
		}
		if n != want {
			t.Fatalf("%s %s: %d of %s are admitted, want %d", method, verb, n, u.Name, want)
		}
	}
	fill(6, jane, "GET", "list")
	fill(0, jane, "HEAD", "get")
	fill(0, jane, "GET", "watch") // counts as a read until it starts
	fill(3, joe, "GET", "get")
	fill(6, node, "GET", "list")
	fill(3, jane, "POST", "create")
	fill(4, node, "DELETE", "delete")
	health := s.newLimitedRequest(jane, requestinfo.Info{Method: "GET", Path: "/livez"})
	if err := s.acquireTurn(health); err != nil {
		t.Error("a health check is rejected")
	}
	s = newLimitedServer(Limits{MaxRequestsInFlight: 100, MaxWatches: 4}, meta.Kubernetes)
	fill(2, jane, "GET", "watch")
	fill(3, node, "GET", "watch")
}

func TestSystemUsers(t *testing.T) {
	for _, test := range []struct {
		naming *meta.Naming
		user   authn.User
		want   bool
	}{
		{meta.Platform, authn.User{Name: "admin", Groups: []string{authn.GroupMasters}}, true},
		{meta.Platform, authn.User{Name: "system:node:a", Groups: []string{"system:nodes"}}, true},
		{meta.Platform, authn.User{Name: "system:platform-scheduler"}, true},
		{meta.Kubernetes, authn.User{Name: "system:kube-scheduler"}, true},
		{meta.Kubernetes, authn.User{Name: "system:serviceaccount:kube-system:x", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kube-system"}}, true},
		{meta.Kubernetes, authn.User{Name: "system:serviceaccount:default:x", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:default"}}, false},
		{meta.Kubernetes, authn.User{Name: authn.UserAnonymous, Groups: []string{authn.GroupUnauthenticated}}, false},
	} {
		if r := newReserves(test.naming); r.admit(&test.user) != test.want {
			t.Errorf("%s %v: %t", test.user.Name, test.user.Groups, !test.want)
		}
	}
}

// smallMemory is a MemoryMonitor with memory for twelve writes of ten bytes each.
type smallMemory struct{}

func (smallMemory) UnderPressure() bool { return false }
func (smallMemory) Available() int64    { return 120 }

// TestMemoryShares tests that users share the memory for writes, and that a write is always
// admitted if there is no other.
func TestMemoryShares(t *testing.T) {
	s := newLimitedServer(Limits{}, meta.Platform)
	s.opts.MemoryMonitor = smallMemory{}
	fill := func(user string, want int) {
		t.Helper()
		n := 0
		for s.tryReserveWork(s.newLimitedRequest(&authn.User{Name: user}, requestinfo.Info{}), 10) == nil {
			n++
		}
		if n != want {
			t.Errorf("%s: %d writes, want %d", user, n, want)
		}
	}
	fill("joe", 6)
	fill("jane", 3)
	s = newLimitedServer(Limits{}, meta.Platform)
	s.opts.MemoryMonitor = smallMemory{}
	x := s.newLimitedRequest(&authn.User{Name: "joe"}, requestinfo.Info{})
	if err := s.tryReserveWork(x, 1000); err != nil {
		t.Errorf("the only write: %v", err)
	}
}
