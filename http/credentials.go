package http

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/http/internal/stream"
	"github.com/troupe-api/troupe/policy/authn"
)

// authenticate finds out who asks. The credentials are hidden from every later filter.
func (s *Server) authenticate(x *requestContext) error {
	if x.info.Verb == "watch" {
		x.credentials = &credentialSnapshot{}
	}
	r, err := s.readCredentials(x)
	if err != nil {
		return err
	}
	if x.credentials != nil {
		x.credentials.original = r
		x.credentials.original.Headers = nil // which are the request's
	}
	user, err := s.opts.Authenticator.Authenticate(r)
	if err == nil && user != nil {
		x.user = user
		x.ambientAuth = !r.HasToken && len(r.Certs) > 0
		x.conn.SetAuthenticated(user.Name != authn.UserAnonymous)
		return nil
	}
	if err != nil {
		s.log.Info("http: authentication failed", "error", err, "audit", x.auditID)
	}
	var refusal *authn.RejectionError
	if errors.As(err, &refusal) {
		return apierrors.UnauthorizedBecause(refusal.Message)
	}
	return apierrors.Unauthorized()
}

// readCredentials reads the credentials of a request, and hides them. A header Authorization with another
// scheme than Bearer counts as none.
func (s *Server) readCredentials(x *requestContext) (authn.Request, error) {
	h := &x.ctx.Request.Header
	headers := x.visibleHeaders()
	r := authn.Request{Headers: x.identityHeaders(), Path: x.info.Path, Certs: x.conn.ClientCerts(), ConnCache: &x.conn.authCache}
	if x.headerFlags.Authorization {
		header := bytes.TrimSpace(h.Peek("Authorization"))
		x.authScheme = authScheme(header)
		if r.HasToken = x.authScheme == schemeBearer; r.HasToken {
			r.Token = strings.TrimSpace(string(header[len(schemeBearer):]))
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

// The schemes of the header Authorization that are told apart. Only bearer tokens are accepted.
const (
	schemeBearer = "bearer"
	schemeBasic  = "basic"
)

// authScheme is how a client tries to prove who it is: bearer, basic or "".
func authScheme(authorization []byte) string {
	name, _, _ := bytes.Cut(authorization, []byte(" "))
	for _, known := range []string{schemeBearer, schemeBasic} {
		if strings.EqualFold(string(name), known) {
			return known
		}
	}
	return ""
}

// authFailureMessage says how a client has tried to prove who it is, in the words that users know.
func (x *requestContext) authFailureMessage() string {
	var tried []string
	if x.authScheme != "" {
		tried = append(tried, x.authScheme)
	}
	if x.query.Get(tokenParameter) != "" {
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

// tokenParameter is a parameter in which clients of other servers send a bearer token.
const tokenParameter = "access_token"

// redacted is written in place of what may be a token.
const redacted = "REDACTED"

// redactTokens is a request target without the bearer tokens that it may hold, however the names
// of their parameters are spelled. A parameter that cannot be decoded may be one.
func redactTokens(target string) string {
	path, rest, ok := strings.Cut(target, "?")
	if !ok || !strings.ContainsAny(rest, "%tT") {
		return target
	}
	var b strings.Builder
	b.WriteString(path)
	b.WriteByte('?')
	for rest != "" {
		end := strings.IndexAny(rest, "&;")
		if end < 0 {
			end = len(rest)
		}
		name, _, given := strings.Cut(rest[:end], "=")
		if given && isTokenParameter(name) {
			b.WriteString(name + "=" + redacted)
		} else {
			b.WriteString(rest[:end])
		}
		if end < len(rest) {
			b.WriteByte(rest[end])
			end++
		}
		rest = rest[end:]
	}
	return b.String()
}

// isTokenParameter tells whether the parameter of an encoded name may hold a token.
func isTokenParameter(name string) bool {
	plain, err := url.QueryUnescape(name)
	return err != nil || strings.Contains(strings.ToLower(plain), "token")
}
