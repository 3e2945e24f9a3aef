package oidc

import "net/url"

// SignIn holds a provider's endpoints for users to get tokens, from its discovery document.
type SignIn struct {
	AuthorizationEndpoint string `json:"authorization_endpoint"` // https URL
	TokenEndpoint         string `json:"token_endpoint"`         // https URL
}

// orNone returns nil unless both are https URLs, because a page must not send users or codes
// elsewhere.
func (s SignIn) orNone() *SignIn {
	for _, where := range []string{s.AuthorizationEndpoint, s.TokenEndpoint} {
		if u, err := url.Parse(where); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil
		}
	}
	return &s
}

// SignIn returns the sign-in endpoints, or nil if they are not known yet or not offered.
func (t *Authenticator) SignIn() *SignIn { return t.issuer.signIn.Load() }
