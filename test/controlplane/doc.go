// Package controlplane runs control planes as child processes. The API server is Troupe or, as the
// reference, kube-apiserver with etcd. Both run with kube-controller-manager, kube-scheduler, and
// nodes simulated by troupe cluster. Package cluster builds the Kubernetes programs.
//
//	Processes  the running processes, stopped in reverse start order
//	Server     an API server, with its kubeconfig and certificates
//	Reference  the paths of kube-apiserver and etcd
//	Main       the main function of a command that runs a control plane
package controlplane
