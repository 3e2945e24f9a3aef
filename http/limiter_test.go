package http

import (
	"testing"

	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/requestinfo"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// TestLimits: reads, writes and watches have separate limits, with a reserve for system components.
// Health has none.
func TestLimits(t *testing.T) {
	s := &Server{}
	s.limiters.init(Limits{MaxRequestsInFlight: 4, MaxMutatingRequestsInFlight: 2, MaxWatches: 4}, meta.Kubernetes, false)
	jane := &authn.User{Name: "jane", Groups: []string{authn.GroupAuthenticated}}
	node := &authn.User{Name: "system:node:a", Groups: []string{"system:nodes"}}
	ask := func(u *authn.User, method, verb string) bool {
		x := &requestContext{attributes: authz.Attributes{User: u}, info: requestinfo.Info{IsResource: true, Method: method, Verb: verb}}
		err := s.acquireSlot(x)
		return err == nil
	}
	let := func(n int, u *authn.User, method, verb string) {
		t.Helper()
		for i := range n + 1 {
			if got := ask(u, method, verb); got != (i < n) {
				t.Fatalf("%s %s of %s, number %d: %t", method, verb, u.Name, i+1, got)
			}
		}
	}
	let(4, jane, "GET", "list")
	let(0, jane, "HEAD", "get")
	let(0, jane, "GET", "watch") // a read until it runs
	let(1, node, "GET", "list")
	let(2, jane, "POST", "create")
	let(1, node, "DELETE", "delete")
	if err := s.acquireSlot(&requestContext{attributes: authz.Attributes{User: jane}, info: requestinfo.Info{Method: "GET", Path: "/livez"}}); err != nil {
		t.Error("health is refused")
	}
	s.limiters.readOnly = limits.NewLimiter(4)
	s.limiters.openWatches.Store(4)
	let(0, jane, "GET", "watch")
	let(5, node, "GET", "watch") // none of them runs
	s.limiters.openWatches.Store(5)
	s.limiters.readOnly = limits.NewLimiter(4)
	let(0, node, "GET", "watch")
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
		var l limiters
		if l.init(Limits{}, test.naming, false); l.isSystemUser(&test.user) != test.want {
			t.Errorf("%s %v: %t", test.user.Name, test.user.Groups, !test.want)
		}
	}
}
