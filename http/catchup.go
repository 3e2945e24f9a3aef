package http

import (
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// Several servers may share the store, so this server may lag behind responses that another server
// has sent. Three rules make its own responses consistent. No other code in this package may call
// an authenticator or authorizer, or read objects without the Store.
//
//   - The Store confirms its own responses.
//   - A rejection by an authenticator or authorizer counts only after catching up
//     (authenticateUser, decide). Accepted requests do not wait.
//   - Code that reads objects or policy without the Store catches up first (routeResource,
//     currentDocuments): operations, connections, and the documents of kinds.

// catchUp waits until this server has applied everything that other servers acknowledged before the
// request. It reports whether a retry may now succeed. A request waits only once, and concurrent
// requests share one query to the store.
func (s *Server) catchUp(x *requestContext) bool {
	if s.opts.CatchUp == nil || x.caughtUp {
		return false
	}
	x.caughtUp = true
	return s.opts.CatchUp(x.deadlineCtx)
}

func (s *Server) authenticateUser(x *requestContext, r authn.Request) (*authn.User, error) {
	user, err := s.opts.Authenticator.Authenticate(r)
	if (err != nil || user == nil) && r.HasToken && s.catchUp(x) {
		user, err = s.opts.Authenticator.Authenticate(r)
	}
	return user, err
}

func (s *Server) decide(x *requestContext, a authz.Attributes) (authz.Decision, string) {
	decision, reason := s.opts.Authorizer.Authorize(a)
	if decision != authz.Allow && s.catchUp(x) {
		decision, reason = s.opts.Authorizer.Authorize(a)
	}
	return decision, reason
}

type requestAuthorizer struct {
	s *Server
	x *requestContext
}

func (r requestAuthorizer) Authorize(a authz.Attributes) (authz.Decision, string) {
	return r.s.decide(r.x, a)
}
