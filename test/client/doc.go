// Package client is the HTTP client of the test packages. It sends plain HTTP requests over TLS
// with the administrator's kubeconfig, decodes objects from JSON, and reads watches as event
// streams. It does not use the server's codecs, because errors in a shared codec could cancel out.
//
// A Server or Session runs a server in the test process, and a Process is a child process. Workers
// are processes that run kubectl or troupe commands. A Shared value is created once for all tests
// of a suite. A Log collects log output.
package client
