// Package daemon turns a Config into a running server. The command uses it, tests and the bench do, and
// so can other programs: docs/api-policy.md says what stays stable for them.
//
// A Config holds every setting: defaults, then those of a strict YAML file, then flags. Each section is a type with its
// defaults, its flags and its checks, in a file of the component that it is for.
//
// A Daemon is one server over one data directory. It consists of components, which New makes, Start starts and Stop stops
// (daemon.go). The names of a component's files begin with its own:
//
//	storage      log (journal or etcd), kinds and store
//	identity     certificates, keys and authentication
//	aggregation  servers that extend the API
//	controllers  those that requests rely on, and those whose writes are admitted
//	policy       authorization, admission and audit
//	frontend     port, kubeconfig, flow control, HTTP server
//	maintenance  reload of files
//
// The controllers that requests rely on start before the port opens. Policy starts after that, as it reads objects
// that they write, and connections wait for it. Stop goes the other way: readiness fails, the delay passes, requests in
// flight finish, watches end, controllers stop, the audit is stored, the store answers what it has queued, the journal closes.
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
