package oidc

import "net/url"

// SignIn holds the sign-in endpoints from the provider's discovery document.
type SignIn struct {
	AuthorizationEndpoint string `json:"authorization_endpoint"` // https URL
	TokenEndpoint         string `json:"token_endpoint"`         // https URL
}

// orNone returns s, or nil if an endpoint does not use HTTPS. Plain HTTP would expose authorization
// codes.
func (s SignIn) orNone() *SignIn {
	for _, where := range []string{s.AuthorizationEndpoint, s.TokenEndpoint} {
		if u, err := url.Parse(where); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			return nil
		}
	}
	return &s
}

// ClientID returns the first audience.
func (t *Authenticator) ClientID() string { return t.audiences[0] }

// SignIn returns the sign-in endpoints, or nil if they are unknown.
func (i *issuer) SignIn() *SignIn { return i.signIn.Load() }
