// Package certs makes the daemon's own certificates (a CA, a serving certificate, an
// administrator's client certificate in a kubeconfig, the client certificate for kubelets, and the certificate with
// which the daemon vouches for users to servers that extend the API, with a CA of its own), and keeps these and those that come
// in files current while the daemon runs. It also signs the certificates that others ask for.
//
// A Store is the directory of the daemon's own certificates, a Manager holds those of them that are
// in use; a FilePair is a serving certificate in files, and SNICertificates chooses among several by
// the name that a client asks for; CAs are the authorities that certificates of clients are checked
// against; an Authority is one that signs. A Reloader reads all of them again from time to time.
//
// Files in the directory of a Store, each a PEM file:
//
//	ca.crt      ca.key        the CA, valid for 10 years; behind its certificate those of
//	                          the CAs before it that have not expired
//	front-proxy-ca.crt  .key  the CA of the next one, which nothing else may be trusted for; like ca
//	front-proxy-client.crt    .key  for servers that extend the API, 1 year
//	ca.renew                  made by an administrator who wants new CAs; goes when they are there
//	server.crt  server.key    what the daemon serves with, 1 year
//	admin.crt   admin.key     the administrator (O=system:masters), 1 year
//	apiserver-kubelet-client.crt  .key  for kubelets, 1 year
//
// Keys are ECDSA P-256, in PKCS #8. Directories have mode 0700, files 0600. Both files of a pair are
// written under other names (.new) and synced before either is renamed; the next start ends what a
// crash has interrupted.
//
// Invariants: what is intact is reused; a leaf that expires within 30 days, is not signed by
// the present CA, or (the serving certificate) lacks a name that is asked for, is made anew.
// CAs cannot be issued again: a Binding keeps their checksums with the data that depends on them.
// One that is lost, damaged or another one is a FileError, and so is half of any pair, a key that does
// not match, and a leaf that no CA of the directory has signed. Only a leaf
// whose two files are both missing is issued again.
// A CA gives way to another one only if an administrator asks for it, never because of the
// clock, which may be wrong: outside of the CA's time everything stays as it is, with a warning.
// A CA that is replaced takes its certificates with it. Where there is no room to save a new
// leaf, the files stay as they are and it is used from memory.
// While the daemon runs, nothing ever gives way to something broken: a file that cannot
// be used leaves in use what was read from it before.
//
// Handshakes and requests read an atomic pointer; only the Reloader writes it, from one goroutine.
package certs
