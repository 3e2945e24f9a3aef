// Package certificates holds the rules of certificate signing requests: the request itself, its
// approval, and the certificate that a signer puts into its status; and of bundles of root
// certificates, by which signers tell whom to trust.
package certificates
