// Package remote asks services outside the daemon: the webhooks of authentication,
// authorization and audit.
//
// The nouns: a Service is one such remote, described by a client configuration file (a
// kubeconfig): the cluster of its current context is where it is and whom it must prove to
// be, the user is what the daemon proves itself with. A Question is one POST of JSON.
//
// Invariants: a redirect is an error, never followed; an answer is read up to a bound; a
// question ends with its context; neither bodies nor credentials stand in errors.
package remote
