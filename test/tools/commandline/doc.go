// Command commandline runs Kubernetes' command-line test suite against Troupe:
// hack/make-rules/test-cmd.sh with the groups in test/cmd. The suite and kubectl come unmodified
// from the module k8s.io/kubernetes, at the version in test/cluster/kubernetes/go.mod. Troupe
// replaces the kube-apiserver that the suite starts.
//
//	go run . [--built-in] [--log FILE] [GROUP...]
//
// Without arguments, it runs all groups and the suite's checks between them. A group is named after
// its function, without the prefix run_ and the suffix _tests, such as kubectl_get. The command
// prints a line per group, the tail of failed groups' output, and a summary. It exits with status 1
// if any group failed or did not run.
//
//	suite   the suite's directory tree, and the names of its groups
//	tools   programs for the suite's setup: make, etcd; kube-controller-manager with --built-in
//	mirror  files of the Kubernetes repository, which the suite reads from GitHub
//	report  the results, read from the suite's output
//
// By default, kube-controller-manager reconciles objects. With --built-in, Troupe's own controllers
// do.
package main
