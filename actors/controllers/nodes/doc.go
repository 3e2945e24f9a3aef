// Package nodes holds the controllers of nodes and of the Pods on them.
//
// Lifecycle      marks silent nodes as Unknown and taints them
// TaintEviction  deletes Pods from nodes with NoExecute taints that they do not tolerate
// IPAM           assigns Pod address ranges to nodes
// PodGC          deletes Pods of missing nodes, and surplus ended Pods
//
// All but PodGC are optional: without kubelets, no node reports.
//
// Lifecycle and PodGC poll all nodes or Pods, because they wait for the absence of events. They use
// the metadata of stored objects and decode only changed ones. NoSchedule taints follow each change
// of a node immediately.
//
// Invariants:
//
//   - If no node reports, the fault is on this side, and no Pod is evicted.
//   - At most one node per zone and 10 s is tainted for eviction; fewer or none while most of the
//     zone is silent.
//   - A node has one range of each family, which no other node has.
package nodes
