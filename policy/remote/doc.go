// Package remote sends requests to services outside of the process: the webhooks of authentication,
// authorization, admission and audit and, for the operator's commands, a running daemon.
//
// A Client is for one such service, which a client configuration file describes (package
// kubeconfig), or Options. Post sends one body of JSON and reads the answer; PostWithRetry repeats that as a
// Backoff says; Ask answers whatever code the remote does; Get returns the body of an answer as a stream. A StatusError is an answer with
// another code than 200 and 201.
//
// Invariants: a redirect is an error and never followed; the answer to a Post is read up to a
// bound; everything ends with its context; errors hold neither bodies nor credentials.
package remote
