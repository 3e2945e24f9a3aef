// Package daemon turns a Config into a running server. The command uses it, tests and the bench do, and
// so can other programs: docs/api-policy.md says what stays stable for them.
//
// A Config holds every setting: defaults, then what a strict YAML file says, then what flags say. A
// Daemon is one server over one data directory. Each section of the Config is a type in a file of its
// own, with its defaults, its flags and its checks; what the Daemon makes of it is in the same file or,
// where that is long, in one beside it:
//
//	datadir      journal, certificates and store, all that is in the data directory
//	identity     what the server proves itself with, and the authorities that it trusts (package certs)
//	serviceaccounttokens   keys, issuers and audiences of tokens of service accounts
//	controllers  the built-in controllers, by the names that operators know
//	policies     authentication, authorization, admission and audit
//	operations   creates that store no object of their own kind, such as reviews and evictions
//	server       the HTTP server with all of that
//
// Start takes its steps in the order in which they need each other: data directory (the journal
// locks it and tells its naming profile; then the store and the default roles), keys of service
// accounts, the server's own controllers, port, admin.kubeconfig, Service of the API, policies, HTTP server, the other
// controllers.
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
// that cannot be honoured is an error at the start, never ignored; the ready line is printed
// after the first request could be answered.
package daemon
