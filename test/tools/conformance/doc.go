// Command conformance runs Kubernetes' end-to-end suite on a cluster started by troupe cluster: the
// daemon, kube-controller-manager, kube-scheduler and simulated nodes. make conformance builds all
// of them. As a reference, --kube-apiserver runs the suite on kube-apiserver with etcd.
//
//	suite      the selected tests by group, except those in inapplicable.txt
//	start      the cluster, as processes of package controlplane
//	worker     a process of the suite, which runs batches of tests
//	results    the file that keeps results between runs; passed tests are not rerun
//	result     the outcome of a test: passed, failed (or timed out), or skipped by the suite
//
// The suite has no timeout per test. If a test takes too long, its worker is killed and another
// worker continues the batch. Serial tests run at the end, one at a time.
package main
