// Package nodes holds the controllers of nodes and of the Pods on them.
//
//	Lifecycle      says of nodes that do not report any more that their state is unknown, and taints them
//	TaintEviction  deletes Pods from nodes with NoExecute taints that they do not tolerate
//	IPAM           gives nodes their ranges of Pod addresses
//	PodGC          deletes Pods that nobody else deletes: of nodes that are gone, and too many that have ended
//
// All but PodGC are off unless they are asked for: a cluster without kubelets has nodes that nobody reports about.
//
// Lifecycle and PodGC look at all nodes, or Pods, from time to time, since what they wait for is that nothing happens. They
// look at what the store knows of objects without decoding them, and decode only what has changed. Taints with the effect
// NoSchedule follow each change of a node at once.
//
// Invariants:
//
//   - When no node at all reports, something is wrong with this side, and no Pod is evicted for it.
//   - Of each zone one node is tainted so that its Pods are evicted, at most, every 10 s; more slowly or not at all while
//     most of the zone does not report.
//   - A node has one range of each family, which no other node has.
package nodes
