// Package client is the HTTP client of the test packages. It sends plain HTTP requests over TLS
// with the administrator's kubeconfig, decodes objects from JSON, and reads watches as streams of
// events. It does not share encoders and decoders with the server, because their errors could
// cancel out.
//
// Server and Session are servers in the process of the test. Process is a child process. Workers
// are processes that run commands of kubectl or troupe. Shared is a value that all tests of a suite
// share. Log collects log output.
package client
