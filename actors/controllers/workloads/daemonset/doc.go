// Package daemonset runs a Pod of each DaemonSet on every eligible node.
//
// A node is eligible if the template selects it and tolerates its taints. A Pod names its node in a
// node affinity, for the scheduler. When a node is no longer tolerated, its Pod stays until a taint
// with NoExecute evicts it.
//
// turn      one DaemonSet with its nodes, and its Pods by node
// changes   the Pods to delete, and the nodes to create Pods for
//
// Changes are computed from the turn (placement.go, update.go).
package daemonset
