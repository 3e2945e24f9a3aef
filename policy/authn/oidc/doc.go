// Package oidc authenticates requests with the ID tokens of an OpenID Connect provider.
//
// An Authenticator trusts one issuer, and verifies tokens with its keys. It fetches the keys over
// TLS: first the discovery document
//
//	<issuer>/.well-known/openid-configuration   {"issuer": "<issuer>", "jwks_uri": "https://…"}
//
// and then the key set (RFC 7517) at jwks_uri. A token is a JWT in compact form (RFC 7519).
//
// A token is valid if
//
//   - its algorithm is allowed, and a key of the issuer has signed it;
//   - iss is the issuer, and aud contains an accepted audience;
//   - exp is in the future, and nbf, if present, at most five minutes in the future (clock
//     skew);
//   - the validation rules hold, and the claims contain a user name.
//
// Keys and key URLs in tokens are ignored. The Authenticator has no opinion on tokens of other
// issuers. It does not resolve distributed and aggregated claims.
//
// # Invariants
//
//   - A request waits for the issuer only if its token claims that issuer and no known key
//     signed it. Such requests share one fetch with a timeout. If no keys are known, they fail
//     immediately. Startup does not wait.
//   - Fetches are limited in size and follow no redirects. Tokens cannot cause more than a few
//     fetches per minute.
//   - Verified tokens are cached until they expire, and rejected tokens for ten seconds. Both
//     become invalid when the keys change.
//   - Errors never contain tokens.
//
// # Why not coreos/go-oidc
//
// Its RemoteKeySet (v3.14.1) fetches the keys for every token with an unknown signature, without a
// rate limit, so anyone could make the server call the provider. It reads responses without a size
// limit, and keeps revoked keys until a token with an unknown signature arrives. It does not report
// key changes, which must invalidate cached decisions. An unavailable provider would delay startup.
package oidc
