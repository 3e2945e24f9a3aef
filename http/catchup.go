package http

import (
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// Other servers may share the store, so this one may lag behind the responses of the others.
// Three rules make its responses consistent; no other code in this package may call an
// authenticator or authorizer, or read objects without the Store:
//
//   - The Store confirms its own responses.
//   - A refusal by an authenticator or authorizer counts only after catching up (authenticateUser,
//     decide). Permissions cost nothing.
//   - Code that reads objects or policy without the Store catches up first (routeResource,
//     currentDocuments): operations, connections, and the documents of kinds.

// catchUp waits until this server applies everything that other servers have acknowledged before
// the request, and reports whether a retry is worthwhile. A request waits once. Concurrent requests
// share one request to the store.
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
