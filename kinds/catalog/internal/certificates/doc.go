// Package certificates holds the rules of certificate signing requests: the request itself, its
// approval, and the certificate that a signer puts into its status.
package certificates
