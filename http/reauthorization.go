package http

import (
	"errors"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/policy/authn"
	"github.com/troupe-api/troupe/policy/authz"
)

// recheckGrant asks again what the requests of a grant were asked when they began: who asks, as whom, and
// whether they may.
//
// Unknown is not a refusal: while an authenticator or a webhook cannot be reached, what was let in goes on. A
// name that has changed ends it, since all that the client has seen was seen by somebody else.
func (s *Server) recheckGrant(snapshot *credentials.Snapshot, asked authz.Attributes) stream.Verdict {
	r := snapshot.Request()
	user, err := s.opts.Authenticator.Authenticate(r)
	switch {
	case errors.Is(err, authn.ErrUnavailable):
		return stream.Verdict{Unknown: true}
	case err != nil || user == nil:
		return stream.Verdict{Refusal: apierrors.Unauthorized()}
	}
	until := user.ValidUntil
	rights := &failureRecorder{Authorizer: s.opts.Authorizer}
	if snapshot.Impersonation {
		impersonator := s.impersonator
		impersonator.Authorizer = rights
		as, err := impersonator.Impersonate(user, r.Headers)
		var refusal *meta.Status
		switch {
		case rights.failed:
			return stream.Verdict{Unknown: true}
		case errors.As(err, &refusal):
			return stream.Verdict{Refusal: refusal, Forbidden: true}
		case as != nil:
			user = as
		}
	}
	if user.Name != asked.User.Name {
		return stream.Verdict{Refusal: apierrors.Unauthorized()} // the credential is somebody else's now
	}
	asked.User = user
	decision, reason := rights.Authorize(asked)
	switch {
	case rights.failed && decision != authz.Allow:
		return stream.Verdict{Unknown: true}
	case decision != authz.Allow:
		return stream.Verdict{Refusal: asked.Forbidden(reason), Forbidden: true}
	}
	return stream.Verdict{ValidUntil: until}
}

// failureRecorder is an authorizer that remembers whether a mode could not find out.
type failureRecorder struct {
	authz.Authorizer
	failed bool
}

// Authorize implements authz.Authorizer.
func (t *failureRecorder) Authorize(a authz.Attributes) (authz.Decision, string) {
	decision, reason := t.Authorizer.Authorize(a)
	t.failed = t.failed || decision == authz.Failed
	return decision, reason
}

// newGrant is the one by which a long-running request may run.
//
// Those with the same key are asked as one: many watches of one client differ in nothing that decides. The cache of
// the connection is replaced, because a connection may end before its grant does.
func (s *Server) newGrant(x *requestContext) *stream.Grant {
	snapshot, asked := x.headers.Snapshot, x.attributes
	snapshot.Impersonation = x.headerFlags.Impersonation
	snapshot.Original.ConnCache = &authn.ConnCache{}
	return &stream.Grant{
		Key: snapshot.Digest(x.info.Verb, x.info.Group, x.info.Version, x.info.Resource, x.info.Subresource, x.info.Namespace, x.info.Name,
			x.target.Query.Get("fieldSelector"), x.target.Query.Get("labelSelector")),
		User:  asked.User.Name,
		Check: func() stream.Verdict { return s.recheckGrant(snapshot, asked) },
	}
}

// authGeneration is that of all rights.
func (s *Server) authGeneration() uint64 {
	if s.opts.AuthGeneration == nil {
		return 0
	}
	return s.opts.AuthGeneration()
}
