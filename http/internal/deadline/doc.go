// Package deadline provides a context with a deadline that needs no timer until Done is called.
//
//	Lazy    a context.Context without values, whose first Done creates a timer
//	Client  a connection: the first Done pauses it, and a disconnect cancels the context
package deadline
