// Package scheduler puts Pods on nodes where no other scheduler does: a small one, for simulated clusters and tests.
//
// A turn takes all Pods that wait, those of the highest priority first, then the oldest, and puts each on the node that
// has the most left, of those that it selects (nodeSelector, required node affinity), whose taints it tolerates, and that
// have room for what it requests. It does not know preferences, preemption, host ports, volumes that wait for a consumer,
// affinity between Pods, or spreading; a Pod that requires one of the last two waits, and its condition says why.
//
//	turn   what is known at its beginning, and what is taken of each node since
package scheduler
