// Package oidc authenticates by the identity tokens of an OpenID Connect provider.
//
// The issuer is the one trusted provider. The Authenticator verifies tokens with its keys, which
// are fetched over TLS: first the discovery document
//
//	<issuer>/.well-known/openid-configuration   {"issuer": "<issuer>", "jwks_uri": "https://…"}
//
// and then the key set (RFC 7517) at jwks_uri. A token is a JWT in compact form (RFC 7519).
//
// A token is valid if
//
//   - its algorithm is allowed, and a key of the issuer has signed it;
//   - iss is the issuer, and aud contains exactly the client id;
//   - exp is in the future, and nbf, if present, at most five minutes in the future (clock skew);
//   - all required claims have their values, and the claims name a user.
//
// Keys and key addresses in tokens are ignored. There is no opinion on tokens of other issuers.
// Distributed and aggregated claims are not resolved.
//
// # Invariants
//
//   - Only requests with a token of the issuer that no known key has signed wait for the issuer.
//     They share one fetch with a timeout. Without any keys they fail at once. Startup does not
//     wait.
//   - Fetches are limited in size, follow no redirects, and happen at most a few times a minute,
//     whatever tokens arrive.
//   - Verified tokens are cached until they expire, rejected ones for ten seconds, and both only
//     while the keys stay the same.
//   - Errors never contain tokens.
//
// # Why not coreos/go-oidc
//
// Its RemoteKeySet (v3.14.1) fetches the keys for every token with an unknown signature, without a
// rate limit, so that anyone can make the server call the provider. It reads responses without a
// size limit. It keeps revoked keys until a token with an unknown signature arrives. It does not
// report key changes, which must invalidate cached decisions (KeySetID). Discovery is part of its
// construction, so an unavailable provider would delay the start. What remains is parsing a key set
// and checking five claims, at the price of a second JWT implementation (go-jose) beside
// golang-jwt, which service accounts need anyway.
package oidc
