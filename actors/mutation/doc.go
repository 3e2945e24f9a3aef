// Package mutation computes the effect of a request on an object, from the current state and a
// mutation to a candidate for the new state. It has no clock, uid source or I/O and does not know
// actors; the object's owner calls it.
//
// A mutation takes three steps:
//
//	Prepare  builds the wanted tree, from the body or from the current state and a patch; checks
//	         preconditions; sets defaults; restores what clients may not set; updates managed
//	         fields
//	Admit    runs the admission plugins that mutate or refuse the change
//	Finish   allocates shared values, validates, encodes, and compares with the current state:
//	         an equal candidate is a no-op
//
// Managed fields are updated before admission, so fields that admission adds have no manager.
//
// If plugins may block (request.MayBlock), Wait replaces Finish. It runs on another goroutine while
// the owner continues. The state is immutable, and the owner checks afterwards that it is still
// current.
package mutation
