// Package controlplane runs control planes as child processes: Troupe, or kube-apiserver with etcd
// as the reference. Both run with kube-controller-manager and kube-scheduler, and with nodes
// simulated by troupe cluster. Package cluster builds the programs of Kubernetes.
//
//	Processes  the running processes, which are stopped in reverse order
//	Server     an API server, with its kubeconfig and certificates
//	Reference  the programs of the reference
//	Main       the main function of a command that runs a control plane
package controlplane
