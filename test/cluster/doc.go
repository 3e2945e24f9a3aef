// Package cluster tests the server as part of a cluster: nodes, workloads, Services, and
// Kubernetes' own controllers.
//
// The files of a topic begin with its name. The topics:
//
// # Cluster
//
// These tests run whole clusters on the real daemon: controllers, a scheduler and simulated nodes,
// each a process of its own, driven by kubectl; and kills the daemon in the middle of what they do.
//
// A table is a text file, testdata/cluster/NAME.txt, of one step per line; empty lines and lines
// that begin with # are for readers:
//
//	COMMAND             a shell command, which has to succeed; k stands for kubectl in the namespace of the table
//	fails COMMAND       which has to fail
//	TEXT = COMMAND      what the command writes becomes TEXT (without blanks around it) in time
//	kill                the daemon is killed (SIGKILL) and started again
//	load N              the custom metric load of every Service becomes N
//
// After each table nothing but the daemon may have been restarted: a controller that has ended
// fails the test.
//
// make test plays the tables with the controllers and the scheduler that are built into the daemon,
// but for those in testdata/cluster/programs, which need more, or minutes. .ci/suite cluster
// (TROUPE_CLUSTER=programs) plays all of them with kube-controller-manager, kube-scheduler, kubeadm
// and kwok, which are built from the modules that kubernetes/go.mod and kwok/go.mod pin, once, into
// the user's cache. With TROUPE_PROGRAMS=DIR they are taken from a folder.
//
// # Network
//
// These tests play clients of Services, their addresses and endpoints, of disruption budgets and of
// nodes, against a daemon with its controllers.
//
// # Workloads
//
// These tests test the controllers of workloads against a real daemon, with a kubelet that is
// simulated: it puts Pods on a node, lets them run, and removes those that are to go.
package cluster
