// Package deadline has a context with a deadline that is free of cost until its first Done.
//
//	Lazy    a context.Context without values; its timer is created by the first Done
//	Client  is paused by the first Done; the context ends when it has left
package deadline
