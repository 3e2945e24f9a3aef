package oidc

import "net/url"

// SignIn is where people get tokens of a provider, as its discovery document says.
type SignIn struct {
	AuthorizationEndpoint string `json:"authorization_endpoint"` // https URL
	TokenEndpoint         string `json:"token_endpoint"`         // https URL
}

// orNone is nil unless both are https URLs: a page must not send people or codes elsewhere.
func (s SignIn) orNone() *SignIn {
	for _, where := range []string{s.AuthorizationEndpoint, s.TokenEndpoint} {
		if u, err := url.Parse(where); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil
		}
	}
	return &s
}

// SignIn tells where people get tokens; nil before the provider has been asked, and if it offers nothing.
func (t *Authenticator) SignIn() *SignIn { return t.issuer.signIn.Load() }
