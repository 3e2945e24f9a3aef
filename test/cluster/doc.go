// Package cluster tests the server as part of a cluster: nodes, workloads, Services, and
// Kubernetes' own controllers.
//
// The files of a topic begin with its name. The topics:
//
// # Cluster
//
// These tests run a whole cluster: the daemon, controllers, a scheduler and simulated nodes, each
// as a process. They use kubectl, and kill the daemon at any point.
//
// A table is a text file, testdata/cluster/NAME.txt, with one step per line. Empty lines and lines
// that begin with # are ignored.
//
//	COMMAND             a shell command that must succeed; k is kubectl in the table's namespace
//	fails COMMAND       a shell command that must fail
//	TEXT = COMMAND      waits until the trimmed output of the command is TEXT
//	kill                kills the daemon (SIGKILL) and restarts it
//	load N              sets the custom metric load of every Service to N
//
// A process other than the daemon that ends before the end of a table fails the test.
//
// make test runs the tables with the daemon's built-in controllers and scheduler. The tables in
// testdata/cluster/programs need other programs or take minutes. .ci/suite cluster
// (TROUPE_CLUSTER=programs) runs all tables with kube-controller-manager, kube-scheduler, kubeadm
// and kwok. They are built once into the user's cache, at the versions in kubernetes/go.mod and
// kwok/go.mod. TROUPE_PROGRAMS=DIR names a directory to use instead.
//
// # Network
//
// These tests use Services, their addresses and endpoints, disruption budgets and nodes on a daemon
// with its controllers.
//
// # Workloads
//
// These tests check the workload controllers on a daemon with a simulated kubelet, which binds
// Pods, runs them and removes deleted ones.
package cluster
