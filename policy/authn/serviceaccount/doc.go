// Package serviceaccount signs and verifies the tokens of service accounts.
//
// A Key signs or verifies; an Issuer signs with one; a TokenRequestHandler answers
// TokenRequests with what an Issuer signs; an Authenticator verifies tokens with many Keys
// and checks that what they are bound to still exists; DiscoveryDocument and KeySet are the
// documents by which others verify them.
//
// A token is a JWT (RFC 7519), signed with RS256 by an RSA key and with ES256, ES384 or ES512
// by an ECDSA key of P-256, P-384 or P-521. Its header holds alg and kid. There are two kinds,
// told apart by their issuer. A bound token:
//
//	aud                  for whom it is, a list
//	exp, iat, nbf        when it ends, was signed, and begins, in seconds since 1970
//	iss                  the Issuer's name
//	jti                  an id of its own, a UUID
//	sub                  system:serviceaccount:<namespace>:<name>
//	platform.io
//	    namespace        of the account
//	    serviceaccount   name and uid of the account
//	    pod              name and uid, where it is bound to a Pod
//	    secret           name and uid, where it is bound to a Secret
//	    node             name and uid: of the Pod's node or, alone, to which it is bound
//	    warnafter        when it should have been replaced, in seconds since 1970
//
// A legacy token, which is in the Secret that it names, and has no end:
//
//	iss                                              platform/serviceaccount
//	sub                                              as above
//	platform.io/serviceaccount/namespace             of account and Secret
//	platform.io/serviceaccount/secret.name           the Secret
//	platform.io/serviceaccount/service-account.name  the account
//	platform.io/serviceaccount/service-account.uid   its uid
//
// The naming profile gives all names with "platform" their form.
//
// Invariants: a key verifies one algorithm only; keys, or addresses of keys, in a token count
// nothing, nor does a token with the header crit; what a token says is cached by its SHA-256
// sum, in a bounded number, but whether the account and the object that it is bound to still
// live, with the same uid, is asked anew for every request; clocks may differ by a minute.
package serviceaccount
