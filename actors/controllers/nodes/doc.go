// Package nodes holds the controllers of nodes and of the Pods on them.
//
//	Lifecycle      marks silent nodes as Unknown and taints them
//	TaintEviction  deletes Pods from nodes with NoExecute taints that they do not tolerate
//	IPAM           assigns Pod address ranges to nodes
//	PodGC          deletes Pods of missing nodes, and surplus terminated Pods
//
// All controllers except PodGC are optional, because a cluster without kubelets has no node
// heartbeats.
//
// Lifecycle and PodGC poll all nodes or Pods, because missing heartbeats, and nodes that stay
// missing, cause no events. They use the metadata of stored objects and decode only changed
// objects. NoSchedule taints are updated immediately after each change to a node.
//
// Invariants:
//
//   - If no node is ready, the server's own network may have failed, so no Pod is evicted.
//   - In a zone, at most one node per 10 s is tainted for eviction. While most of the zone is
//     silent, fewer nodes or none are tainted.
//   - A node has one range of each family, which no other node has.
package nodes
