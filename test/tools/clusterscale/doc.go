// Command clusterscale measures how a control plane places many Pods on many simulated nodes: how fast, at whose cost, and what the scheduler
// waits for. go run . builds what it needs and runs it; with --kube-apiserver the same is measured there.
//
// Every part is a process of its own, whose CPU time is read from /proc. There are two phases, so that what makes Pods does not hide
// how fast they are placed:
//
//	create    kube-controller-manager makes all Pods of some Deployments; no scheduler runs
//	schedule  kube-scheduler is started, and finds all of them; the phase ends when the last one is placed
//	start     the rest of the time until all Pods are ready, and all Deployments say so
//
// The scheduler finds a node for one Pod after the other, and has it bound while it looks for the next one. So the share of the
// phase that its search takes, by its own metrics, tells whether it is itself what limits.
package main
