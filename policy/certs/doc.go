// Package certs makes and keeps the daemon's own certificates: a CA, a serving
// certificate, and an administrator's client certificate in a kubeconfig.
//
// Files in the directory of a Store, each a PEM file:
//
//	ca.crt      ca.key        the CA, valid for 10 years
//	server.crt  server.key    what the daemon serves with, 1 year
//	admin.crt   admin.key     the administrator (O=system:masters), 1 year
//
// Keys are ECDSA P-256, in PKCS #8. Directories have mode 0700, files 0600, and each
// file is replaced by renaming a synced temporary file over it.
//
// Invariants: what is intact is reused; what expires within 30 days, is not signed by the
// present CA, or (the serving certificate) lacks a name that is asked for, is made anew;
// a CA that is replaced takes its certificates with it. A certificate that does not match
// its key, or a damaged file, is an error naming the file, never a silent replacement.
package certs
