// Package envtest runs suites that are written for controller-runtime's package envtest on the folder that `troupe envtest install`
// fills: what a folder has to do beyond what etcd and kube-apiserver do in it, such as to leave nothing behind when a test is
// killed. docs/conformance.md has what comes of controller-runtime's own suites in it.
package envtest
