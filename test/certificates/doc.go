// Package certificates tests the way of a certificate: who may ask, what is approved by itself, what each signer signs
// and refuses, when requests go, and where the server's own roots are published. Every daemon is a real one.
package certificates
