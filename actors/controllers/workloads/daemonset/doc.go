// Package daemonset keeps a Pod of each DaemonSet on every node that it is for.
//
// A node is one to run on if the template selects it and tolerates its taints. A Pod names its node by an affinity, so
// that a scheduler binds it; without a scheduler whoever plays one may read it there. A Pod that a node no longer
// tolerates stays until a taint with NoExecute drives it away.
//
//	turn      one DaemonSet with its nodes, and its Pods by node
//	changes   the Pods to delete, and the nodes to make one for
//
// What a turn changes is decided by functions of the turn (placement.go, update.go).
package daemonset
