// Package envtest lets the troupe binary stand in for the programs that controller-runtime's
// package envtest starts: kube-apiserver and etcd in the directory named by KUBEBUILDER_ASSETS.
//
// Install fills such a directory with copies of the binary, which selects a stand-in by its own
// name (Program):
//
//	kube-apiserver   the daemon in memory, with the flags of kube-apiserver 1.35 (APIServer)
//	etcd             health checks only, because the daemon keeps its own state (Etcd)
//
// kubectl is a link to an existing one, or built by Go.
//
// Invariants: every flag of kube-apiserver 1.35 is accepted. A flag is honored, or logged: at debug
// level if it has no meaning here, as a warning if it has. A stand-in ends soon after its parent
// process and removes the temporary directories that envtest made for it (followParent). It opens
// only the ports that its flags name, and writes only to --cert-dir.
package envtest
