// Package envtest lets the troupe binary stand in for the programs that controller-runtime's
// package envtest starts: kube-apiserver and etcd in the directory named by KUBEBUILDER_ASSETS.
//
// Install fills such a directory with copies of the binary. Each copy acts as the program whose
// name it has (Program):
//
//	kube-apiserver   the daemon in memory, with the flags of kube-apiserver 1.37 (APIServer)
//	etcd             health checks only, because the daemon stores the data itself (Etcd)
//
// kubectl is a link to an installed kubectl, or is built from source.
//
// Invariants:
//   - Every flag of kube-apiserver 1.37 is accepted, and either honored or logged. Flags that
//     do not apply are logged at debug level, all others as a warning.
//   - A stand-in exits soon after its parent process, and removes the temporary directories
//     that envtest created for it (followParent).
//   - A stand-in opens only the ports in its flags, and writes only to --cert-dir.
package envtest
