// Package serviceaccount signs and verifies service account tokens.
//
// A Key signs or verifies tokens. An Issuer signs with one Key. A TokenRequestHandler completes
// TokenRequests with tokens from an Issuer. An Authenticator verifies tokens with many Keys and
// checks that the bound objects still exist. DiscoveryDocument and KeySet return the documents with
// which other services verify tokens.
//
// A token is a JWT (RFC 7519), signed with RS256 by an RSA key, or with ES256, ES384 or ES512 by an
// ECDSA key. Its header has alg and kid. There are two types of tokens with different issuers. A
// bound token:
//
//	aud                  the audiences, a list
//	exp, iat, nbf        when it expires, was signed, and becomes valid, in seconds since 1970
//	iss                  the Issuer's name
//	jti                  its id, a UUID
//	sub                  system:serviceaccount:<namespace>:<name>
//	platform.io
//	    namespace        of the account
//	    serviceaccount   name and uid of the account
//	    pod              name and uid, if it is bound to a Pod
//	    secret           name and uid, if it is bound to a Secret
//	    node             name and uid: of the Pod's node or, alone, of the node it is bound to
//	    warnafter        when it should have been replaced, in seconds since 1970
//
// A legacy token does not expire. It is stored in the Secret that it names:
//
//	iss                                              platform/serviceaccount
//	sub                                              as above
//	platform.io/serviceaccount/namespace             of account and Secret
//	platform.io/serviceaccount/secret.name           the Secret
//	platform.io/serviceaccount/service-account.name  the account
//	platform.io/serviceaccount/service-account.uid   its uid
//
// The naming profile translates all names that contain "platform".
//
// # Invariants
//
//   - A key verifies tokens with only one algorithm.
//   - Keys and key URLs in a token are ignored. Tokens with the header crit are rejected.
//   - The claims of tokens are cached by SHA-256 sum, up to a limit. Each request checks that the
//     account and the bound object still exist with the same uid.
//   - Clocks may differ by a minute.
package serviceaccount
