// Package client is the HTTP client of the test packages. It uses plain HTTP over TLS with the
// administrator's kubeconfig, objects as decoded JSON, and watches as streams of events. It does
// not use the server's encoders and decoders, so that their errors do not cancel out.
//
// Server and Session are daemons in the test's process, and Process is a child process. Workers are
// processes that run commands of kubectl or troupe. Shared is a value that the tests of a suite
// share. Log collects log output.
package client
