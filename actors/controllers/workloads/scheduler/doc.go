// Package scheduler is a small scheduler for simulated clusters and tests.
//
// A turn handles all waiting Pods, by priority and then by age. Each Pod gets the node with the
// most free resources. The node must match the Pod's nodeSelector and required node affinity, have
// no taints that the Pod does not tolerate, be able to reach its volumes, and have room for its
// requests. For claims of WaitForFirstConsumer classes, the scheduler selects the node, and binds
// the Pod when the claims are bound. Preferences, preemption, host ports, inter-Pod affinity and
// topology spreading are not supported. A Pod that requires inter-Pod affinity or topology
// spreading stays pending, and its condition contains the reason.
//
//	turn  the free resources of each node, minus the requests of Pods placed in the turn
package scheduler
