// Package localcluster runs a cluster on one machine: the daemon, controllers, a scheduler and
// simulated nodes (package simulation).
//
//	Options  the cluster's configuration
//	program  kube-controller-manager or kube-scheduler, as a child process
//	Run      starts the components in dependency order, and stops them in reverse
//
// If kube-controller-manager or kube-scheduler is found, it replaces the daemon's built-in
// controllers or scheduler. A cluster's directory contains data (the daemon's data directory), logs
// (one file per component) and kubelet, the certificates for mutual TLS between the daemon and the
// kubelet. Each run issues them from a new CA.
package localcluster
