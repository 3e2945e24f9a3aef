// Package workloads provides the controllers that create Pods from workload objects. They are
// optional, because most clusters run kube-controller-manager.
//
//	autoscaler   HorizontalPodAutoscalers, through the scale subresource of their targets
//	daemonset    DaemonSets
//	deployment   Deployments, through ReplicaSets
//	job          Jobs and CronJobs
//	replicas     ReplicaSets and ReplicationControllers
//	scheduler    assigns Pods to nodes
//	statefulset  StatefulSets
//
// They share one Cluster (internal/cluster), which watches each kind once. Pure functions in
// separate files make the decisions.
//
// Writes go through admission like clients' writes, but are not authorized. Unchanged objects are
// not written. A rejected Pod causes an Event, a condition if the kind has one, and a retry with
// backoff.
package workloads
