// Command conformance runs Kubernetes' end-to-end suite on a cluster of troupe cluster: the real daemon with
// kube-controller-manager and kube-scheduler, and simulated nodes. make conformance builds all of them and runs it. With
// --kube-apiserver it runs the suite on that and an etcd, beside the same programs, as the reference.
//
//	suite      the tests that are to be run, by group, without those of inapplicable.txt, which cannot be run here
//	start      the cluster, from processes of package controlplane
//	worker     a process of the suite, which runs one batch of tests after the other
//	results    the file that keeps them between runs; the tests that stand there as passed are not run again
//	result     what has become of a test: passed, failed, which it also has if it took too long, or skipped by the suite itself
//
// The suite has no limit for the time of a single test: a worker whose test takes too long is killed, and another one goes on
// with the rest of the batch. Tests that are Serial run at the end, one at a time.
package main
