// Package daemon turns a Config into a running server. The troupe command, tests, the benchmark and
// other programs use it. docs/api-policy.md describes its stability guarantees.
//
// A Config holds every setting. A strictly parsed YAML file overrides the defaults, and flags
// override the file. settings.ini declares the settings. Each section of the settings is a type,
// declared in a file of the component that uses it.
//
// A Daemon consists of components, which New creates, Start starts and Stop stops (daemon.go).
// Files are named after their component:
//
//	storage      log (journal or etcd), kinds and store
//	identity     certificates, keys and authentication
//	aggregation  extension API servers
//	controllers  built-in controllers, of the API server and of the cluster
//	policy       authorization, admission and audit
//	frontend     listener, kubeconfig, flow control, HTTP server
//	maintenance  reload of files
//
// The API server's own controllers start before the port opens. Policy starts after the
// controllers, because it reads objects that they write. Connections wait in the listener's queue
// until the HTTP server starts. Stop uses the reverse order.
//
// The data directory:
//
//	admin.kubeconfig       the administrator's kubeconfig, mode 0600
//	pki/                   package certs, and sa.key, which signs service account tokens
//	journal/, snapshots/   package persist, with a few small files next to them
//
// Invariants:
//   - Only one process opens a data directory, always under the same naming profile.
//   - A setting that cannot be honored is an error at startup, never ignored.
//   - The ready line is printed once requests can be served.
package daemon
