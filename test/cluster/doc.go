// Package cluster tests the server as part of a cluster, with nodes, workloads, Services, and
// Kubernetes' own controllers.
//
// Each topic below has its own file name prefix.
//
// # Cluster
//
// These tests run a whole cluster: the daemon, controllers, a scheduler and simulated nodes, each
// as a process. They use kubectl, and kill the daemon at arbitrary points.
//
// A table is a text file, testdata/cluster/NAME.txt, with one step per line. Empty lines and lines
// that start with # are ignored.
//
//	COMMAND             a shell command that must succeed; k is kubectl in the table's namespace
//	fails COMMAND       a shell command that must fail
//	TEXT = COMMAND      waits until the command's trimmed output is TEXT
//	kill                kills the daemon (SIGKILL) and restarts it
//	load N              sets the custom metric "load" of every Service to N
//
// A table fails if any process other than the daemon exits before the end of the table.
//
// make test runs the tables with the daemon's built-in controllers and scheduler, except those in
// testdata/cluster/programs, which need other programs or take minutes. .ci/suite cluster
// (TROUPE_CLUSTER=programs) runs all tables with kube-controller-manager, kube-scheduler, kubeadm
// and kwok. These programs are built once into the user's cache directory, at the versions in
// kubernetes/go.mod and kwok/go.mod. TROUPE_PROGRAMS=DIR selects a directory with existing programs
// instead.
//
// # Network
//
// These tests cover Services, cluster IPs, endpoints, PodDisruptionBudgets and Nodes, on a daemon
// with its controllers.
//
// # Workloads
//
// These tests cover the workload controllers on a daemon with a simulated kubelet, which binds
// Pods, runs them and removes deleted ones.
package cluster
