// Package operations implements requests that clients create but that are not stored. They change
// several objects in several steps. The only such request is the eviction of a Pod.
//
// An Evictor deletes a Pod if the disruption budgets that select it allow that:
//
//	the Pod has ended or does not run yet      delete it, since no budget counts it
//	no budget selects it                       delete it
//	it is not ready and the budget allows it   delete it if it has not changed
//	otherwise                                  take one disruption from the budget, then delete it
//
// Operations change objects only through the store, like any client. Each decision is a
// precondition of the following change: a budget's status is updated at the version that was read,
// so that no two evictions take the same disruption.
package operations
