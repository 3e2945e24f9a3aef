// Package daemon is the wiring of the server: it turns a Config into a running Daemon.
// The command uses it, and so do tests and the bench, in process and on port 0.
//
// The nouns: a Config holds every setting, with defaults, from a strict YAML file and from
// flags that override it; a Daemon is one server over one data directory.
//
// Start opens in the order in which things rest on each other: journal (which locks the
// data directory), naming profile, certificates, store, front. Stop closes in the reverse
// order: readiness fails, the delay passes, requests in flight finish, watches end, the
// store answers what it has queued, the journal closes.
//
// The data directory:
//
//	admin.kubeconfig   client configuration of the administrator, mode 0600
//	pki/               package certs
//	journal/ snapshots/ and small files beside them: package persist
//
// Invariants: a data directory is opened by one process and under one naming profile; the
// ready line is printed after the first request could be answered.
package daemon
