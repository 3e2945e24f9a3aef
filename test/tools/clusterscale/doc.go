// Command clusterscale measures how a control plane places many Pods on many simulated nodes. It
// reports the speed, the CPU time, and what limits the scheduler. go run . builds the programs it
// needs. --kube-apiserver measures that server instead of Troupe.
//
// Every part of the control plane is a process, whose CPU time comes from /proc. The phases are
// separate, so that creating Pods does not hide the speed of placing them:
//
//	create    kube-controller-manager creates all Pods of some Deployments, without a scheduler
//	schedule  kube-scheduler starts and places all Pods
//	start     until all Pods are ready and all Deployments report it
//
// The scheduler finds a node for one Pod at a time, but binds Pods concurrently. So the share of
// time that it spends on finding nodes, according to its metrics, shows whether the scheduler is
// the bottleneck.
package main
