// Package certs issues the server's own certificates, keeps them and external ones current at run
// time, and signs certificate requests. Its CA issues the serving certificate, the administrator's
// client certificate, and the server's client certificate for kubelets. A separate CA issues the
// front proxy certificate for extension API servers.
//
// A Manager holds the current own certificates, a FilePair an external serving certificate, and CAs
// the CAs for client certificates. An Authority signs certificate requests. A Reloader reloads all
// of these periodically.
//
// The directory of the server's own certificates, a Store, has these PEM files:
//
//	ca.crt      ca.key        the CA, valid for 10 years; followed by the unexpired certificates
//	                          of its predecessors
//	front-proxy-ca.crt  .key  signs only front-proxy-client; otherwise like ca
//	front-proxy-client.crt    .key  for extension API servers, 1 year
//	ca.renew                  created by an administrator to request new CAs; removed afterwards
//	server.crt  server.key    the serving certificate, 1 year
//	admin.crt   admin.key     the administrator (O=system:masters), 1 year
//	apiserver-kubelet-client.crt  .key  for kubelets, 1 year
//
// Keys are ECDSA P-256 in PKCS #8. Directories have mode 0700, files 0600. Both files of a pair are
// written under temporary names (.new) and synced before either is renamed. The next start
// completes an interrupted save.
//
// # Invariants
//
//   - Intact pairs are reused. A leaf certificate is reissued if it expires within 30 days or is
//     not signed by the current CA. The serving certificate is also reissued if it lacks a
//     requested name.
//   - A lost CA cannot be reissued, so a Binding stores the checksums of the CAs with the data
//     that depends on them. A FileError reports a missing, corrupt or replaced CA, a pair with one
//     missing file or a mismatched key, or a leaf signed by an unknown CA. A leaf is reissued if
//     both of its files are missing.
//   - Only an administrator replaces a CA. A wrong clock never causes a replacement. Outside the
//     CA's validity, the server only logs a warning. Replacing a CA also replaces its
//     certificates.
//   - If a new leaf cannot be saved because the disk is full, it is used from memory.
//   - At run time, an invalid file never replaces the valid content in use.
package certs
