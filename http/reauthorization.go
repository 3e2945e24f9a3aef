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

// recheckGrant repeats the authentication, impersonation and authorization of a long-running
// request. While an authenticator or webhook is unreachable, the verdict is Unknown, and the
// request continues. If the credentials now belong to a different user, the request ends, because
// the previous user made it.
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
		request := asked
		request.User = user
		as, _, err := impersonator.Impersonate(request, r.Headers)
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
		return stream.Verdict{Refusal: apierrors.Unauthorized()} // another user by now
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

type failureRecorder struct {
	authz.Authorizer
	failed bool
}

func (t *failureRecorder) Authorize(a authz.Attributes) (authz.Decision, string) {
	decision, reason := t.Authorizer.Authorize(a)
	t.failed = t.failed || decision == authz.Failed
	return decision, reason
}

// newGrant returns the grant of a long-running request. Requests with the same credentials and
// attributes share a key and are rechecked together. The grant has its own authentication cache,
// because the connection may end first.
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

func (s *Server) authGeneration() uint64 {
	if s.opts.AuthGeneration == nil {
		return 0
	}
	return s.opts.AuthGeneration()
}
