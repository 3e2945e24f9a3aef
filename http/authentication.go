package http

import (
	"bytes"
	"errors"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/credentials"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/policy/authn"
)

// authenticate finds out who asks. The credentials are hidden from every later filter.
//
// What may go on without a deadline keeps a snapshot of what it was let in by, since it is asked again while it runs (reauthorization.go).
// ambientAuth is for checkOrigin: a certificate goes with every request of a browser, whoever made the page.
//
// Why a credential was refused goes to the log and the audit; the client hears it only where the authenticator made
// the text for it.
func (s *Server) authenticate(x *requestContext) error {
	if x.outlasts() {
		x.credentials = &credentials.Snapshot{}
	}
	r, err := s.readCredentials(x)
	if err != nil {
		return err
	}
	if x.credentials != nil {
		x.credentials.Original = r
		x.credentials.Original.Headers = nil // which are the request's
	}
	user, err := s.authenticateUser(x, r)
	if err == nil && user != nil {
		x.user = user
		x.ambientAuth = !r.HasToken && len(r.Certs) > 0
		x.conn.SetUser(user.Name, user.Name != authn.UserAnonymous)
		return nil
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

// readCredentials reads the credentials of a request, and hides them. A header Authorization with another
// scheme than Bearer counts as none.
//
// A browser cannot set headers when it opens a WebSocket, so the token may come as a sub-protocol there.
// Authorization counts before that.
func (s *Server) readCredentials(x *requestContext) (authn.Request, error) {
	h := &x.ctx.Request.Header
	headers := x.visibleHeaders()
	r := authn.Request{Headers: x.identityHeaders(), Path: x.info.Path, Certs: x.conn.ClientCerts(), ConnCache: &x.conn.authCache}
	if x.headerFlags.Authorization {
		header := bytes.TrimSpace(h.Peek("Authorization"))
		x.authScheme = credentials.Scheme(header)
		if x.authScheme == credentials.SchemeBearer {
			r.Token = strings.TrimSpace(string(header[len(credentials.SchemeBearer):]))
			r.HasToken = r.Token != "" // "Bearer" alone is no credential
		}
		headers.Remove("Authorization")
	}
	if x.headerFlags.Upgrade && stream.WantsWebSocket(h) {
		_, token, err := stream.WebSocketProtocols(h, s.names.BearerProtocol)
		if errors.Is(err, stream.ErrWebSocketToken) {
			return r, apierrors.Unauthorized()
		}
		if !r.HasToken {
			r.Token, r.HasToken = token, token != ""
		}
		headers.Remove("Sec-WebSocket-Protocol")
	}
	return r, nil
}

// authFailureMessage says how a client has tried to prove who it is, in the words that users know.
func (x *requestContext) authFailureMessage() string {
	var tried []string
	if x.authScheme != "" {
		tried = append(tried, x.authScheme)
	}
	if x.query.Get(credentials.TokenParameter) != "" {
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

// visibleHeaders are those of the request that the next filter may read.
func (x *requestContext) visibleHeaders() *credentials.Headers {
	return x.headers.Of(&x.ctx.Request.Header)
}

// identityHeaders are the headers of the request for authenticators that read identities there. Of a
// watch it is noted which ones they believe.
func (x *requestContext) identityHeaders() authn.Headers {
	h := x.visibleHeaders()
	if x.credentials == nil {
		return h
	}
	return x.credentials.Record(h)
}

// impersonate makes the user of the request the one as whom it asks to act. Who has asked stays
// in the audit; later filters do not know.
func (s *Server) impersonate(x *requestContext) error {
	if !x.headerFlags.Impersonation {
		return nil
	}
	impersonator := s.impersonator
	impersonator.Authorizer = requestAuthorizer{s, x}
	user, err := impersonator.Impersonate(x.user, x.identityHeaders())
	if err != nil {
		return err
	}
	if user != nil {
		x.user = user
	}
	return nil
}
