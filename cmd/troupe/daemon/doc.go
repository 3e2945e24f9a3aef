// Package daemon is the wiring of the server: it turns a Config into a running Daemon.
// The command uses it, and so do tests and the bench, in process and on port 0.
//
// The nouns: a Config holds every setting, with defaults, from a strict YAML file and from
// flags that override it; a Daemon is one server over one data directory. A section of the
// Config is a type in a file of its own, with its default, its flags and its checks; what is
// made of it stands there or, where that is long, beside it:
//
//	identity    what the daemon proves itself with and whose certificates it believes (certs)
//	accounts    keys, issuers and audiences of tokens of service accounts
//	objects     the store, as package policy wants to see it
//	policies    who is let in, what they may do, what has a say in it, what is written down
//	operations  the creates of which nothing is stored, such as reviews and evictions
//	builtIns    the controllers by the names that operators know
//	background  what policies do beside requests
//
// Start opens in the order in which things rest on each other: journal (which locks the data
// directory and tells its naming profile), certificates beside it, store, default roles, keys of
// service accounts, controllers, port, admin.kubeconfig, Service of the API, policies, front.
// Stop closes in the reverse order: readiness fails, the delay passes, requests in flight
// finish, watches end, the audit is stored, controllers stop, the store answers what it has
// queued, the journal closes.
//
// The data directory:
//
//	admin.kubeconfig   client configuration of the administrator, mode 0600
//	pki/               package certs, and sa.key, which signs tokens of service accounts
//	journal/ snapshots/ and small files beside them: package persist
//
// Invariants: a data directory is opened by one process and under one naming profile; a setting
// that cannot be honoured is an error at the start, never passed over; the ready line is printed
// after the first request could be answered.
package daemon
