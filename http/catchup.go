package http

import (
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// Where other daemons write to the same store, this one may not know yet what their clients were
// answered. Three rules make its answers those of all daemons; nothing else in this package may ask
// an authenticator or an authorizer, or read objects past the Store:
//
//   - The Store confirms its own answers.
//   - A refusal by an authenticator or an authorizer counts only after catching up
//     (authenticateUser, decide). What they allow costs nothing.
//   - What reads objects or policy past the Store catches up before it begins (routeResource,
//     currentDocuments): operations, connections, and the documents of kinds.

// catchUp waits until what other daemons have answered before the request is in effect here, and
// reports whether it is worthwhile to look again. A request waits once: what comes later is not its
// business. Requests that wait at the same time share one question to the store.
func (s *Server) catchUp(x *requestContext) bool {
	if s.opts.CatchUp == nil || x.caughtUp {
		return false
	}
	x.caughtUp = true
	return s.opts.CatchUp(x.deadlineCtx)
}

// authenticateUser returns the user of the credentials, or nil if no authenticator knows them.
func (s *Server) authenticateUser(x *requestContext, r authn.Request) (*authn.User, error) {
	user, err := s.opts.Authenticator.Authenticate(r)
	if (err != nil || user == nil) && r.HasToken && s.catchUp(x) {
		user, err = s.opts.Authenticator.Authenticate(r)
	}
	return user, err
}

// decide authorizes.
func (s *Server) decide(x *requestContext, a authz.Attributes) (authz.Decision, string) {
	decision, reason := s.opts.Authorizer.Authorize(a)
	if decision != authz.Allow && s.catchUp(x) {
		decision, reason = s.opts.Authorizer.Authorize(a)
	}
	return decision, reason
}

// requestAuthorizer decides for one request.
type requestAuthorizer struct {
	s *Server
	x *requestContext
}

// Authorize implements authz.Authorizer.
func (r requestAuthorizer) Authorize(a authz.Attributes) (authz.Decision, string) {
	return r.s.decide(r.x, a)
}
