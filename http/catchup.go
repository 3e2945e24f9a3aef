package http

import (
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// Several servers may share the store, so this server may not yet have applied a write that another
// server has acknowledged. Three rules keep its responses consistent:
//
//   - The Store itself ensures that its responses are current.
//   - A rejection by an authenticator or authorizer is final only after catchUp (authenticateUser,
//     decide). Accepted requests do not wait.
//   - Code that reads objects or policy without the Store calls catchUp first: routeResource for
//     operations and connections, currentDocuments for discovery.
//
// No other code in this package may call authenticators or authorizers, or bypass the Store.

// catchUp blocks until this server has applied all writes that other servers acknowledged before
// the request. It reports whether the caller should repeat a failed check. It blocks at most once
// per request, and concurrent requests share one query to the store.
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
