// Package remote asks services outside the process: the webhooks of authentication,
// authorization and audit and, for the operator's commands, a running daemon.
//
// The nouns: a Service is one such remote, described by a client configuration file (a
// kubeconfig): the cluster of its current context is where it is and whom it must prove to
// be, the user is what to prove oneself with. A question is one POST of JSON; Retry says how
// often it is repeated, a Failure is an answer that is none. What is opened comes as a stream.
//
// Of the file, certificates, tokens and passwords are read, inline or from the files that it
// names, which are relative to its own directory; a credential that a program is to give is an
// error. Certificates and tokens in files are read anew whenever they are needed.
//
// Invariants: a redirect is an error, never followed; the answer to a question is read up to a
// bound; everything ends with its context; neither bodies nor credentials stand in errors.
package remote
