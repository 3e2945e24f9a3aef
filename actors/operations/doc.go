// Package operations implements requests that clients create but that are not stored. The only such
// request is the eviction of a Pod.
//
// An Evictor deletes a Pod if the disruption budgets that select it allow that:
//
//	Pod has ended or is not running yet      delete it, since no budget counts it
//	Pod is not selected by a budget          delete it
//	Pod is unready and the budget allows it  delete it if it has not changed
//	other Pods                               take one disruption from the budget, then delete
//
// Operations change objects only through the store, like any client. A budget's status is updated
// with the version that was read as a precondition, so that no two evictions take the same
// disruption.
package operations
