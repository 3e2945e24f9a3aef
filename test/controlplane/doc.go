// Package controlplane starts control planes as processes: Troupe, or kube-apiserver with an etcd as the reference, and around either
// of them the controllers and the scheduler of Kubernetes, and the nodes that troupe cluster plays.
//
//	Processes  what has been started, which ends in the opposite order
//	Server     an API server, with what its clients need
//	Reference  the programs of the reference
//	Main       the main function of a command that starts one
//
// The programs of Kubernetes are those of test/cluster.
package controlplane
