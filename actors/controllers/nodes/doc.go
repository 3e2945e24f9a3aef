// Package nodes provides the controllers for nodes and their Pods.
//
//	Lifecycle      marks silent nodes as Unknown and taints them
//	TaintEviction  deletes Pods that do not tolerate their node's NoExecute taints
//	IPAM           assigns Pod CIDRs to nodes
//	PodGC          deletes Pods of missing nodes, and surplus terminated Pods
//
// All controllers except PodGC are optional, because a cluster without kubelets has no node
// heartbeats.
//
// Lifecycle and PodGC poll all nodes or Pods, because neither a missing heartbeat nor a missing
// node causes events. They use the metadata of stored objects and decode only changed objects.
// NoSchedule taints are updated immediately after each change to a node.
//
// Invariants:
//
//   - If no node is ready, the server's own network may have failed, so no Pod is evicted.
//   - In a zone, at most one node per 10 s is tainted for eviction. While most of the zone is
//     silent, fewer or no nodes are tainted.
//   - Each node has one Pod CIDR per IP family. No two nodes share a Pod CIDR.
package nodes
