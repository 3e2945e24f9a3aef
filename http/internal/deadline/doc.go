// Package deadline provides a context with a deadline that needs no timer until Done is called.
//
//	Lazy    a context.Context without values, whose first Done creates a timer
//	Client  a connection, which the first Done pauses and whose end cancels the context
package deadline
