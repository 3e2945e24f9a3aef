// Package serviceaccount signs and verifies the tokens of service accounts.
//
// A Key signs or verifies tokens. An Issuer signs with one Key. A TokenRequestHandler completes
// TokenRequests with tokens of an Issuer. An Authenticator verifies tokens with many Keys and
// checks that the objects that they are bound to still exist. DiscoveryDocument and KeySet are the
// documents with which others verify tokens.
//
// A token is a JWT (RFC 7519), signed with RS256 by an RSA key, or with ES256, ES384 or ES512 by an
// ECDSA key of P-256, P-384 or P-521. Its header has alg and kid. The issuer distinguishes two
// types. A bound token:
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
// A legacy token is stored in the Secret that it names and does not expire:
//
//	iss                                              platform/serviceaccount
//	sub                                              as above
//	platform.io/serviceaccount/namespace             of account and Secret
//	platform.io/serviceaccount/secret.name           the Secret
//	platform.io/serviceaccount/service-account.name  the account
//	platform.io/serviceaccount/service-account.uid   its uid
//
// The naming profile translates all names with "platform".
//
// # Invariants
//
//   - A key verifies one algorithm only.
//   - Keys and key addresses in a token are ignored, and tokens with the header crit are rejected.
//   - The content of tokens is cached by SHA-256 sum, up to a limit. Every request checks that the
//     account and the bound object still exist with the same uid.
//   - Clocks may differ by a minute.
package serviceaccount
