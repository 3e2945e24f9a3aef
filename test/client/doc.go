// Package client is how the suites speak to a server: plain HTTP over TLS with the
// administrator's kubeconfig, objects as trees, watches as streams of events. It knows
// none of the server's packages but the daemon's wiring, to start one in process.
//
// Nouns: Client, Answer, Object, List, Watch and Event; Server, a daemon in process; and Log,
// what a daemon writes.
package client
