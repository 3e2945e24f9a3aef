// Package certs issues the daemon's own certificates, keeps them and external ones current while
// the daemon runs, and signs certificate requests. Its CA issues the serving certificate, the
// administrator's client certificate, and the daemon's client certificate for kubelets. A separate
// CA issues its front proxy certificate for extension API servers.
//
// A Store is the directory of the daemon's own certificates, and a Manager holds the current ones.
// A FilePair is an external serving certificate; SNICertificates selects one by the name that a
// client requests. CAs verify client certificates; an Authority signs. A Reloader reloads all of
// them periodically.
//
// The directory of a Store has these PEM files:
//
//	ca.crt      ca.key        the CA, valid for 10 years; followed by the unexpired certificates
//	                          of its predecessors
//	front-proxy-ca.crt  .key  the CA of the next one, trusted for nothing else; like ca
//	front-proxy-client.crt    .key  for extension API servers, 1 year
//	ca.renew                  created by an administrator to request new CAs; removed afterwards
//	server.crt  server.key    the serving certificate, 1 year
//	admin.crt   admin.key     the administrator (O=system:masters), 1 year
//	apiserver-kubelet-client.crt  .key  for kubelets, 1 year
//
// Keys are ECDSA P-256 in PKCS #8. Directories have mode 0700, files 0600. Both files of a pair are
// written under temporary names (.new) and synced before either is renamed; the next start
// completes an interrupted save.
//
// # Invariants
//
//   - Intact pairs are reused. A leaf is reissued if it expires within 30 days, is not signed by
//     the current CA, or, as the serving certificate, lacks a requested name.
//   - CAs cannot be reissued: a Binding stores their checksums with the data that depends on them.
//     A lost, damaged or exchanged CA is a FileError. So are half of a pair, a mismatched key, and
//     a leaf of an unknown CA. A leaf without both files is reissued.
//   - Only an administrator replaces a CA, never a wrong clock: outside of the CA's validity
//     nothing changes except for a warning. Replacing a CA replaces its certificates.
//   - A new leaf that cannot be saved for lack of space is used from memory.
//   - While the daemon runs, an invalid file never replaces valid content in use.
//
// Handshakes and requests read an atomic pointer, which only the Reloader's goroutine writes.
package certs
