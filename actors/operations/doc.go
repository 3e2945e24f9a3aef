// Package operations holds what clients create but nobody stores: requests that change objects in
// more than one step, by rules across several objects. So far that is the eviction of Pods.
//
// An Evictor deletes a Pod if the disruption budgets that select it allow that:
//
//	the Pod has ended or does not run yet    delete it, no budget counts it
//	no budget selects it                     delete it
//	it is not ready, and the budget lets     delete it, on condition that it has not changed
//	such Pods go
//	else                                     take one disruption from the budget, then delete it
//
// Invariants: an operation changes objects through the store only, like any client. What it decided
// on is a precondition of what it does then: a budget's status is updated at the version that was
// read, so that no two evictions take the same disruption.
package operations
