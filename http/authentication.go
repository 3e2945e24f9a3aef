package http

import (
	"errors"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/limits"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/policy/authn"
)

// authenticate identifies the user of a request and hides the credentials from later filters.
// Long-running requests keep a snapshot of the credentials for rechecks (reauthorization.go). The
// reason for a rejection is logged and audited. Clients see only the message of a RejectionError.
func (s *Server) authenticate(x *requestContext) error {
	if x.outlasts() {
		x.headers.Snapshot = &credentials.Snapshot{}
	}
	r, err := s.readCredentials(x)
	if err != nil {
		return err
	}
	if kept := x.headers.Snapshot; kept != nil {
		kept.Original = r
		kept.Original.Headers = nil // the headers belong to the request
	}
	user, err := s.authenticateUser(x, r)
	if err == nil && user != nil {
		s.setAttributes(x, user)
		x.state = stateAuthenticated
		return s.identify(x, user)
	}
	if err != nil {
		s.log.Info("authentication failed", "error", err, "audit", x.auditID)
	}
	var refusal *authn.RejectionError
	if errors.As(err, &refusal) {
		return apierrors.UnauthorizedBecause(refusal.Message)
	}
	return apierrors.Unauthorized()
}

func (s *Server) identify(x *requestContext, user *authn.User) error {
	if user.Name == authn.UserAnonymous {
		x.permit = limits.Permit{Principal: x.conn.SetAnonymous()}
		return nil
	}
	if x.conn.user != user {
		x.conn.user, x.conn.reserved = user, s.reserves.admit(user)
	}
	principal, err := x.conn.SetUser(user.Name, x.conn.reserved)
	x.permit = limits.Permit{Principal: principal, Reserved: x.conn.reserved}
	if err != nil {
		x.ctx.SetConnectionClose()
		return tooManyRequests(err)
	}
	return nil
}

// readCredentials reads the credentials of a request and hides them. It ignores an Authorization
// header whose scheme is not Bearer.
//
// Browsers cannot set headers when they open a WebSocket, so a WebSocket client may instead send
// the token as a subprotocol. The Authorization header takes precedence.
func (s *Server) readCredentials(x *requestContext) (authn.Request, error) {
	h := &x.ctx.Request.Header
	r := authn.Request{Headers: &x.headers, Path: x.info.Path, Certs: x.conn.ClientCerts(), ConnCache: &x.conn.authCache}
	if x.headerFlags.Authorization {
		r.Token = string(credentials.BearerToken(h.Peek("Authorization")))
		r.HasToken = r.Token != ""
		x.headers.Hide("Authorization")
	}
	if x.headerFlags.Upgrade && stream.WantsWebSocket(h) {
		_, token, err := stream.WebSocketProtocols(h, s.names.BearerProtocol)
		if errors.Is(err, stream.ErrWebSocketToken) {
			return r, apierrors.Unauthorized()
		}
		if !r.HasToken {
			r.Token, r.HasToken = token, token != ""
		}
		x.headers.Hide("Sec-WebSocket-Protocol")
	}
	return r, nil
}

// authFailureMessage lists the attempted authentication methods, in kube-apiserver's wording.
func (x *requestContext) authFailureMessage() string {
	var tried []string
	if scheme := credentials.Scheme(x.ctx.Request.Header.Peek("Authorization")); scheme != "" {
		tried = append(tried, scheme)
	}
	if x.target.Query.Get(credentials.TokenParameter) != "" {
		tried = append(tried, "access_token")
	}
	if len(x.conn.ClientCerts()) > 0 {
		tried = append(tried, "x509")
	}
	if len(tried) == 0 {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(tried, ", ")
}

// impersonate replaces the user of the request with the user in its impersonation headers. Only the
// audit record keeps the original user.
func (s *Server) impersonate(x *requestContext) error {
	impersonator := s.impersonator
	impersonator.Authorizer = requestAuthorizer{s, x}
	user, constraint, err := impersonator.Impersonate(x.attributes, &x.headers)
	if err != nil {
		return err
	}
	if user != nil {
		x.attributes.User = user
		if x.audit != nil {
			x.audit.ImpersonationConstraint = constraint
		}
	}
	return nil
}
