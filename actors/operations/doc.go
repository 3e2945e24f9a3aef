// Package operations implements create requests that perform an operation instead of storing an
// object. The only such operation is the eviction of a Pod.
//
// An Evictor deletes a Pod if its disruption budgets allow it:
//
//	Pod has ended or is not running yet      delete it, since no budget counts it
//	Pod is not selected by a budget          delete it
//	Pod is unready and the budget allows it  delete it if it has not changed
//	other Pods                               take one disruption from the budget, then delete
//
// Updates of a budget's status have a resourceVersion precondition, so that no two evictions take
// the same disruption.
package operations
