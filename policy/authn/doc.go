// Package authn authenticates requests.
//
// A Request holds the credentials of an HTTP request. An Authenticator is one authentication
// method, and a User is its result. A Reviewer answers TokenReviews. A Cache stores results by the
// credential's Digest.
//
// An Authenticator returns one of three results:
//
//	user, nil   the credential is valid
//	nil, nil    no opinion: there is no credential of its type, or it is unknown
//	nil, error  a credential of its type is invalid
//
// After a FinalError, no other method may try the credential. An error that wraps ErrUnavailable
// means that the remote service could not be reached. After User.ValidUntil, a credential must be
// authenticated again even if nothing has changed.
//
// The HTTP layer responds to the last two results with 401. It shows clients only the text of a
// RejectionError. The usual chain is
//
//	Authenticated(Anonymous(Bearer(Union(proxy, certificates), Union(tokens…))))
//
// Union tries its methods in order. Bearer rejects an invalid token even if the certificate is
// valid, and accepts a valid token even if the certificate is invalid. Anonymous accepts requests
// without credentials. Authenticated adds the group system:authenticated to all other users.
//
// A credential may be limited to certain audiences. Reviews pass the requested audiences in
// Request.Audiences, and User.Audiences returns the matching ones. Other requests require the
// audience of this server.
//
// # Invariants
//
//   - An unknown bearer token is rejected even if anonymous access is enabled.
//   - The time of a token lookup does not depend on the token.
//   - Returned Users are immutable, because methods share them between requests.
//   - Caches are bounded and contain no credentials. An entry never outlives its credential,
//     or the CAs or keys that verified it.
//   - Errors never contain credentials.
package authn
