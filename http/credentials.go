package http

import (
	"bytes"
	"errors"
	"strings"

	"github.com/troupe-api/troupe/policy/authn"
)

var bearer = []byte("bearer ")

// authenticate finds out who asks. What it was told by is taken out of the request.
func (s *Server) authenticate(x *exchange) error {
	r, err := s.credentials(x)
	if err != nil {
		return err
	}
	user, err := s.opts.Authenticator.Authenticate(r)
	if err == nil && user != nil {
		x.user = user
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

// credentials reads those of a request, and removes the bearer token.
func (s *Server) credentials(x *exchange) (authn.Request, error) {
	h := &x.ctx.Request.Header
	r := authn.Request{Headers: headers{h}, Path: x.info.Path}
	if x.heading.authorized {
		header := h.Peek("Authorization")
		r.HasToken, x.tried = true, scheme(header)
		if len(header) >= len(bearer) && bytes.EqualFold(header[:len(bearer)], bearer) {
			r.Token = strings.TrimSpace(string(header[len(bearer):]))
		}
		h.Del("Authorization")
	}
	if x.heading.upgrades && wantsSocket(h) {
		protocols, token, err := s.socketProtocols(h)
		if errors.Is(err, errSocketToken) {
			return r, unauthorized()
		}
		if token != "" {
			h.Del("Sec-WebSocket-Protocol")
			h.Set("Sec-WebSocket-Protocol", strings.Join(protocols, ", "))
		}
		if !x.heading.authorized {
			r.Token, r.HasToken = token, token != ""
		}
	}
	if c, ok := x.ctx.Conn().(*conn); ok {
		r.Certs, r.Memory = c.certs, &c.memory
	}
	return r, nil
}

// scheme is how a client tries to prove who it is: bearer, basic or "".
func scheme(authorization []byte) string {
	name, _, ok := bytes.Cut(authorization, []byte(" "))
	switch {
	case ok && bytes.EqualFold(name, bearer[:len(bearer)-1]):
		return "bearer"
	case ok && bytes.EqualFold(name, []byte("basic")):
		return "basic"
	}
	return ""
}

// attempt says how a client has tried to prove who it is, in the words that users know.
func (x *exchange) attempt() string {
	var tried []string
	if x.tried != "" {
		tried = append(tried, x.tried)
	}
	if x.query.get(strings.TrimSuffix(tokenQuery, "=")) != "" {
		tried = append(tried, "access_token")
	}
	if c, ok := x.ctx.Conn().(*conn); ok && len(c.certs) > 0 {
		tried = append(tried, "x509")
	}
	if len(tried) == 0 {
		return "Authentication failed, no credentials provided"
	}
	return "Authentication failed, attempted: " + strings.Join(tried, ", ")
}

// tokenQuery is a parameter in which clients of other servers send a bearer token.
const tokenQuery = "access_token="

// withoutToken is a request target without the bearer token that it may hold.
func withoutToken(target string) string {
	path, rest, ok := strings.Cut(target, "?")
	if !ok || !strings.Contains(rest, tokenQuery) {
		return target
	}
	pairs := strings.Split(rest, "&")
	for i, pair := range pairs {
		if strings.HasPrefix(pair, tokenQuery) {
			pairs[i] = tokenQuery + "REDACTED"
		}
	}
	return path + "?" + strings.Join(pairs, "&")
}
