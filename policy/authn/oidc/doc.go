// Package oidc authenticates by the identity tokens of an OpenID Connect provider.
//
// The issuer is the one provider that is trusted; it signs with its keys; the Authenticator verifies
// tokens with them. The keys are fetched over TLS, first the discovery document
//
//	<issuer>/.well-known/openid-configuration   {"issuer": "<issuer>", "jwks_uri": "https://…"}
//
// and then the key set (RFC 7517) that this names; a token is a JWT in compact form (RFC
// 7519) whose claims say who somebody is.
//
// A token is good if its algorithm is one of those allowed, a key of the issuer has signed
// it, iss is the issuer and aud holds the client id, to the letter, it has an exp that is to
// come and no nbf that is (five minutes of grace there, for clocks that differ), every
// required claim is there with its value, and the claims name a user. No key, and no address
// of a key, is ever taken from a token. Whoever calls gets no opinion on what is no token of
// the issuer.
//
// Invariants: no request waits for the issuer but those with a token of it that none of the
// known keys has signed, and those together for one fetch, which is bounded in time; without
// keys they fail at once. Nothing else waits, not even the start. Fetches are bounded in size,
// follow no redirect, and happen a few times a minute at most, whatever tokens come. A token
// that was verified is known until it expires, a bad one for ten seconds, both only while the
// issuer's keys stay what they are. Tokens are in no error.
//
// Distributed and aggregated claims are not resolved.
//
// # Why not coreos/go-oidc
//
// Its RemoteKeySet (v3.14.1) fetches the keys for every token with an unknown signature, without a
// bound on how often, so that anybody can make the server ask the provider; it reads the provider's
// answers without a bound on their size; it keeps keys that the provider has dropped as long as no
// token with an unknown signature comes; it does not tell when the keys have changed, which ends
// decisions that were kept (KeySetID); and discovery is part of its construction, so that a provider
// that is down would hold up the start. With all of that around it, what is left is reading a key set
// and checking five claims, at the price of a second implementation of JWT (go-jose) beside
// golang-jwt, which service accounts need anyway.
package oidc
