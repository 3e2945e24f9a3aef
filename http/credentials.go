package http

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

// authenticate finds out who asks. What it was told by is hidden from then on.
func (s *Server) authenticate(x *exchange) error {
	if x.info.Verb == "watch" {
		x.proof = &proof{}
	}
	r, err := s.credentials(x)
	if err != nil {
		return err
	}
	if x.proof != nil {
		x.proof.credentials = r
		x.proof.credentials.Headers = nil // which are the request's
	}
	user, err := s.opts.Authenticator.Authenticate(r)
	if err == nil && user != nil {
		x.user = user
		x.ambient = !r.HasToken && len(r.Certs) > 0
		x.conn.meet(user)
		return nil
	}
	if err != nil {
		s.log.Info("http: authentication failed", "error", err, "audit", x.id)
	}
	var refusal *authn.Refusal
	if errors.As(err, &refusal) {
		return refused(refusal.Message)
	}
	return unauthorized()
}

// credentials reads those of a request, and hides them from whoever looks for others. A header
// Authorization of another scheme than Bearer is none.
func (s *Server) credentials(x *exchange) (authn.Request, error) {
	h := &x.ctx.Request.Header
	shown := x.headersOf()
	r := authn.Request{Headers: x.believes(), Path: x.info.Path, Certs: x.conn.certs, Memory: &x.conn.memory}
	if x.heading.authorized {
		header := bytes.TrimSpace(h.Peek("Authorization"))
		x.tried = scheme(header)
		if r.HasToken = x.tried == schemeBearer; r.HasToken {
			r.Token = strings.TrimSpace(string(header[len(schemeBearer):]))
		}
		shown.Remove("Authorization")
	}
	if x.heading.upgrades && wantsSocket(h) {
		_, token, err := s.socketProtocols(h)
		if errors.Is(err, errSocketToken) {
			return r, unauthorized()
		}
		if !r.HasToken {
			r.Token, r.HasToken = token, token != ""
		}
		shown.Remove("Sec-WebSocket-Protocol")
	}
	return r, nil
}

// The schemes of the header Authorization that are told apart. Only bearer tokens are looked at.
const (
	schemeBearer = "bearer"
	schemeBasic  = "basic"
)

// scheme is how a client tries to prove who it is: bearer, basic or "".
func scheme(authorization []byte) string {
	name, _, _ := bytes.Cut(authorization, []byte(" "))
	for _, known := range []string{schemeBearer, schemeBasic} {
		if strings.EqualFold(string(name), known) {
			return known
		}
	}
	return ""
}

// attempt says how a client has tried to prove who it is, in the words that users know.
func (x *exchange) attempt() string {
	var tried []string
	if x.tried != "" {
		tried = append(tried, x.tried)
	}
	if x.query.get(tokenQuery) != "" {
		tried = append(tried, "access_token")
	}
	if len(x.conn.certs) > 0 {
		tried = append(tried, "x509")
	}
	if len(tried) == 0 {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(tried, ", ")
}

// tokenQuery is a parameter in which clients of other servers send a bearer token.
const tokenQuery = "access_token"

// redacted takes the place of what may be a token.
const redacted = "REDACTED"

// withoutToken is a request target without the bearer tokens that it may hold, however the names
// of their parameters are spelled. What cannot be read may be one.
func withoutToken(target string) string {
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
		if given && namesToken(name) {
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

// namesToken tells whether the parameter of an encoded name may hold a token.
func namesToken(name string) bool {
	plain, err := url.QueryUnescape(name)
	return err != nil || strings.Contains(strings.ToLower(plain), "token")
}
