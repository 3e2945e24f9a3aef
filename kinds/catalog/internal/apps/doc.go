// Package apps holds the rules of the kinds that keep Pods running: Deployments, ReplicaSets,
// StatefulSets and DaemonSets, with what they share in workload.go, and of the revisions that
// controllers keep of them.
package apps
