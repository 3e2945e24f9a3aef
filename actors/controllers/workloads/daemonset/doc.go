// Package daemonset runs a Pod of each DaemonSet on every eligible node.
//
// A node is eligible if the template selects it and tolerates its taints. A node affinity in each
// Pod makes the scheduler bind the Pod to its node. If a node gets a taint that the template does
// not tolerate, the Pod stays unless the effect is NoExecute.
//
//	turn     one DaemonSet with its nodes, and its Pods by node
//	changes  the Pods to delete, and the nodes to create Pods for
//
// Changes are computed from the turn (placement.go, update.go).
package daemonset
