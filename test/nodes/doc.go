// Package nodes tests Troupe with real nodes: kubelets, containerd and kube-proxy on two machines
// of package realnode. It needs root; "make node-test" runs it.
package nodes
