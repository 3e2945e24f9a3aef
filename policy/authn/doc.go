// Package authn authenticates requests.
//
// A Request holds the credentials of one HTTP request. An Authenticator is one method of
// authentication. A User is its result, which a Reviewer reports to clients. A Cache keeps results
// by the Digest of the credential.
//
// An Authenticator returns one of three results:
//
//	user, nil   the credential is valid
//	nil, nil    no opinion: there is no credential of its type, or it is unknown
//	nil, error  a credential of its type is invalid
//
// A FinalError prevents other methods from trying the credential. An error that wraps
// ErrUnavailable means that the remote could not be reached. After User.ValidUntil, a credential
// must be checked again even if nothing has changed.
//
// The HTTP layer responds with 401 to the last two results and shows clients only the text of a
// RejectionError. The usual chain is
//
//	Authenticated(Anonymous(Bearer(Union(proxy, certificates), Union(tokens…))))
//
// Union tries its methods in order. Bearer rejects an invalid token even with a valid
// certificate; a valid token outweighs an invalid certificate. Anonymous accepts requests without
// credentials, and Authenticated adds the group of all others. Tokens come from a file, service
// accounts (package serviceaccount), bootstrapping, an OpenID Connect provider (package oidc), or a
// webhook.
//
// A credential may be limited to certain audiences. Reviews pass audiences in Request.Audiences,
// and User.Audiences returns the matching ones. For other requests the audience is the server
// itself.
//
// # Invariants
//
//   - An unknown bearer token is rejected even if anonymous access is enabled.
//   - The time of a token lookup does not depend on the token.
//   - Users are immutable once returned, because methods share them between requests.
//   - Caches are bounded, contain no credentials, and outlive neither the credential nor the CAs or
//     keys that verified it.
//   - A slow remote delays only credentials that no other method knows, for a limited time.
//   - Errors never contain credentials.
package authn
