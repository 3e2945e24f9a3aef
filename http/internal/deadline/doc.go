// Package deadline has a context with a deadline that costs nothing while nobody waits for it.
//
//	Lazy    a context.Context without values; its timer is created by the first Done
//	Waiter  is told when somebody begins to wait
package deadline
