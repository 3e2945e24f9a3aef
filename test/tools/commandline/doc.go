// Command commandline runs the command-line suite of Kubernetes, hack/make-rules/test-cmd.sh with the groups in test/cmd, against
// Troupe. The suite comes from the module k8s.io/kubernetes at the version that test/cluster/kubernetes/go.mod pins, unchanged:
// kubectl is built from the same module, and the kube-apiserver that the suite starts is Troupe.
//
//	go run . [--built-in] [--log FILE] [GROUP...]
//
// Without arguments it runs all groups, and the checks that the suite makes between them. A group has the name of its function
// without the prefix run_ and the suffix _tests, for instance kubectl_get. The command prints one line per group, the end of the
// output of each failed group, and a summary. It exits with status 1 if a group failed or did not run.
//
//	suite   the tree that the suite runs in, and the names of its groups
//	tools   the programs that only the suite's own setup needs: make, etcd, and kube-controller-manager with --built-in
//	mirror  the files of Kubernetes' repository, which the suite reads from GitHub
//	report  the results, read from the suite's output
//
// kube-controller-manager reconciles the objects by default. With --built-in Troupe's own controllers do.
package main
