// Package scheduler is a small scheduler for simulated clusters and tests.
//
// A turn binds all waiting Pods, by priority and then age. Each gets the node with the most free
// resources among those that it selects (nodeSelector, required node affinity), whose taints it
// tolerates, and that have room for its requests. Preferences, preemption, host ports, volumes that
// wait for a consumer, inter-Pod affinity and spreading are not supported. A Pod that requires one
// of the last two waits, with the reason in its condition.
//
// turn   the state at its start, and what has been allocated since
package scheduler
