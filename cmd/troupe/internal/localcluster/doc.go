// Package localcluster runs a cluster on one machine: the daemon, controllers, a scheduler and
// simulated nodes (package simulation).
//
//	Options  what to run
//	program  kube-controller-manager or kube-scheduler, as a child process
//	Run      starts the parts in the order of their dependencies, and stops them in reverse
//
// The controllers and the scheduler are external programs if available, and otherwise the daemon's.
// The directory of a cluster contains data (the daemon's data directory), logs (a file per part)
// and kubelet. The kubelet directory has the certificates for mutual TLS between the daemon and the
// kubelet. Each start issues them from a new CA.
package localcluster
