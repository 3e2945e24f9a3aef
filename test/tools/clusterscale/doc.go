// Command clusterscale measures how a control plane places many Pods on many simulated nodes:
// speed, CPU time, and what limits the scheduler. go run . builds what it needs; --kube-apiserver
// measures that server instead.
//
// Every part is a process, whose CPU time is read from /proc. The phases are separate, so that
// creating Pods does not hide the speed of placing them:
//
//	create    kube-controller-manager creates all Pods of some Deployments, without a scheduler
//	schedule  kube-scheduler starts and places all Pods
//	start     until all Pods are ready and all Deployments report it
//
// The scheduler searches a node for one Pod at a time and binds concurrently. So the share of the
// search in the phase, from its metrics, shows whether the scheduler is the bottleneck.
package main
