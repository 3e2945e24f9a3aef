// Package deadline provides a context with a deadline that needs no timer until Done is called.
//
//	Lazy    a context.Context without values, which creates its timer in the first call to Done
//	Client  the connection of a request, which Lazy pauses and polls for a disconnect
package deadline
