// Package localcluster runs a cluster on one machine: the daemon, controllers, a scheduler and
// simulated nodes (package simulation).
//
//	Options  the cluster's configuration
//	program  kube-controller-manager or kube-scheduler, as a child process
//	Run      starts the parts in dependency order, and stops them in reverse
//
// External controllers and schedulers replace the daemon's, if available. A cluster's directory
// contains data (the daemon's data directory), logs (a file per part) and kubelet. The kubelet
// directory has the certificates for mutual TLS between the daemon and the kubelet. Each start
// issues them from a new CA.
package localcluster
