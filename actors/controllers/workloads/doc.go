// Package workloads holds the controllers that create Pods from workload objects. They are
// optional, because most clusters run kube-controller-manager.
//
// autoscaler   HorizontalPodAutoscalers, through the scale subresource of their targets
// daemonset    DaemonSets
// deployment   Deployments, through ReplicaSets
// job          Jobs and CronJobs
// replicas     ReplicaSets and ReplicationControllers
// scheduler    assigns Pods to nodes
// statefulset  StatefulSets
//
// They share one Cluster (internal/cluster), which watches each kind once, from when the first of
// them runs. Decisions are pure functions in files of their own; the files beside them write.
//
// Writes pass admission like a client's request, but no authorization. Unchanged state is not
// written. A refused Pod results in an Event, a condition where the kind has one, and a retry with
// backoff.
package workloads
