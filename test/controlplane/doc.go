// Package controlplane runs control planes as child processes: Troupe, or kube-apiserver with etcd
// as the reference. Either one runs with Kubernetes' controllers and scheduler, and with nodes
// simulated by troupe cluster. Package cluster builds the programs of Kubernetes.
//
//	Processes  the running processes, which are stopped in reverse order
//	Server     an API server, with what its clients need
//	Reference  the programs of the reference
//	Main       the main function of a command that starts a control plane
package controlplane
