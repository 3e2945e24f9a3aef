// Package deadline has a context with a deadline that is free of cost until its first Done.
//
//	Lazy    a context.Context without values; its timer is created by the first Done
//	Waiter  is paused by the first Done
package deadline
