// Command clusterscale measures how fast a control plane schedules and starts Pods on simulated
// nodes. It reports speed, CPU time, and the scheduler's bottleneck. go run . builds the required
// programs. --kube-apiserver measures kube-apiserver instead of Troupe.
//
// Every component of the control plane is a separate process, whose CPU time is read from /proc.
// The phases are separate, so that Pod creation does not hide the scheduling speed:
//
//	create    kube-controller-manager creates all Pods of some Deployments, without a scheduler
//	schedule  kube-scheduler starts and binds all Pods
//	start     all Pods become ready and all Deployments report them as available
//
// The scheduler finds a node for one Pod at a time, but binds Pods concurrently. If node searches
// take most of the time, according to its metrics, the scheduler is the bottleneck.
package main
