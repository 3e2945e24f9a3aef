// Package client is the HTTP client of the test packages. It sends plain HTTP requests over TLS
// with the administrator's kubeconfig, decodes objects from JSON, and reads watches as event
// streams. It does not share the server's encoders and decoders, because errors in a shared codec
// could cancel out.
//
// Server and Session run servers in the test process. Process is a child process. Workers are
// processes that run kubectl or troupe commands. Shared is a value that all tests of a suite use.
// Log collects log output.
package client
