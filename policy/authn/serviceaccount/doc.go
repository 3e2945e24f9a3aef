// Package serviceaccount signs and verifies service account tokens.
//
// A Key signs or verifies tokens. An Issuer signs with one Key. A TokenRequestHandler completes
// TokenRequests with tokens from an Issuer. An Authenticator verifies tokens with many Keys and
// checks that the bound objects still exist. DiscoveryDocument and KeySet return the documents that
// other services need to verify tokens.
//
// A token is a JWT (RFC 7519), signed with RS256 by an RSA key, or with ES256, ES384 or ES512 by an
// ECDSA key. Its header has alg and kid. There are two types of tokens with different issuers. A
// bound token:
//
//	aud                  audiences, a list
//	exp, iat, nbf        expiry, issue time, and start of validity, in Unix seconds
//	iss                  Issuer's name
//	jti                  token ID, a UUID
//	sub                  system:serviceaccount:<namespace>:<name>
//	platform.io
//	    namespace        account's namespace
//	    serviceaccount   account's name and uid
//	    pod              bound Pod's name and uid, if any
//	    secret           bound Secret's name and uid, if any
//	    node             name and uid of the Pod's node or, without a Pod, of the bound node
//	    warnafter        expected replacement time, in Unix seconds
//
// A legacy token does not expire. It is stored in the Secret that it names:
//
//	iss                                              platform/serviceaccount
//	sub                                              as above
//	platform.io/serviceaccount/namespace             namespace of account and Secret
//	platform.io/serviceaccount/secret.name           Secret name
//	platform.io/serviceaccount/service-account.name  account name
//	platform.io/serviceaccount/service-account.uid   account uid
//
// The naming profile translates all names that contain "platform".
//
// # Invariants
//
//   - A key verifies tokens with only one algorithm.
//   - Keys and key URLs in a token are ignored. Tokens with a crit header are rejected.
//   - Claims are cached by the token's SHA-256 sum, up to a limit. Each request checks that
//     the account and the bound object still exist with the same uid.
//   - Clock skew of up to one minute is tolerated.
package serviceaccount
