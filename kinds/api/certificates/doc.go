// Package certificates validates and defaults CertificateSigningRequests. The group's other kinds
// need no code.
package certificates
