// Package envtest makes the binary stand in for those with which controller-runtime's package envtest runs a control plane in
// tests: kube-apiserver, etcd and kubectl in one folder, which the variable KUBEBUILDER_ASSETS names.
//
// Install fills such a folder. Its kube-apiserver and etcd are one copy of the binary, which goes by the name that
// it is started under (Stand-ins):
//
//	kube-apiserver   the daemon in memory, by the flags of kube-apiserver 1.35 (APIServer)
//	etcd             answers health checks, and nothing else, since the daemon keeps its own state (Etcd)
//
// kubectl is a link to the one that is found, or one that Go builds; the binary does not stand in for it.
//
// Invariants: every flag of kube-apiserver 1.35 is taken; what a flag asks for is done, or has no meaning here and is logged as
// that at debug level, or it is logged as a warning that it is not done. A stand-in ends soon after the process that has started it,
// however that ends (followParent), and takes with it the directories that envtest has made for it. It opens no port but those
// that its flags name and writes no files but those of --cert-dir.
package envtest
