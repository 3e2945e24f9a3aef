// Command commandline runs the command-line suite of Kubernetes against Troupe:
// hack/make-rules/test-cmd.sh with the groups in test/cmd. The suite and kubectl come unmodified
// from the module k8s.io/kubernetes, at the version in test/cluster/kubernetes/go.mod. Troupe
// replaces the kube-apiserver that the suite starts.
//
//	go run . [--built-in] [--log FILE] [GROUP...]
//
// Without arguments it runs all groups, and the checks of the suite between them. The name of a
// group is that of its function without the prefix run_ and the suffix _tests, such as kubectl_get.
// The command prints a line per group, the end of the output of failed groups, and a summary. It
// exits with status 1 if a group failed or did not run.
//
//	suite   the directory tree that the suite runs in, and the names of its groups
//	tools   programs for the suite's setup: make, etcd; kube-controller-manager with --built-in
//	mirror  the files of Kubernetes' repository, which the suite reads from GitHub
//	report  the results, read from the suite's output
//
// By default kube-controller-manager reconciles objects. With --built-in, Troupe's own controllers
// do.
package main
