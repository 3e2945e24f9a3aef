// Command conformance runs the end-to-end suite of Kubernetes on a cluster of troupe cluster: the
// daemon, kube-controller-manager, kube-scheduler and simulated nodes. make conformance builds all
// of them. --kube-apiserver runs the suite on that server and an etcd, as a reference.
//
//	suite      the selected tests by group, without those of inapplicable.txt
//	start      the cluster, from processes of package controlplane
//	worker     a process of the suite, which runs batches of tests
//	results    the file that keeps results between runs; passed tests are not run again
//	result     outcome of a test: passed, failed (also by a timeout), or skipped by the suite
//
// The suite has no timeout per test. So a worker whose test takes too long is killed, and another
// worker continues the batch. Serial tests run at the end, one at a time.
package main
