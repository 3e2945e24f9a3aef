// Package client is the HTTP client of the test packages: plain HTTP over TLS with the administrator's
// kubeconfig, objects as decoded JSON, watches as streams of events. It does not use the server's own
// encoders and decoders, so that their errors do not cancel out.
//
// Types: Client, Answer, Object, List, Watch and Event; Server and Session, a daemon in the test's
// process; Process, a program beside it; Workers, processes that run one command of kubectl or troupe
// after the other; Shared, what all tests of a suite share; and Log, which collects the daemon's log
// output.
package client
