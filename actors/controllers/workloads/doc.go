// Package workloads holds the controllers of workloads: they make Pods, and the objects in between, of what users
// declare. They run only where they are asked for, since most clusters have a process of their own for them.
//
//	autoscaler   HorizontalPodAutoscalers, by the scale of what they name
//	daemonset    DaemonSets
//	deployment   Deployments, by ReplicaSets
//	job          Jobs and CronJobs
//	replicas     ReplicaSets and ReplicationControllers
//	statefulset  StatefulSets
//
// They share one Cluster (internal/cluster), which follows each kind once, for all of them, and holds what they need
// of it; nothing is followed before the first of them runs. Decisions are functions of what was read, in files of
// their own; what writes is beside them and reads like the list of steps that it is.
//
// What they write passes admission like the request of a client, but no authorization: they are the server itself.
// Nothing is written that says what is there already. A refused Pod is an Event, a condition where the kind has one,
// and another try after a delay that doubles.
package workloads
