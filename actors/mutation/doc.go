// Package mutation computes the effect of a request on an object. From the current state and a
// mutation, it derives a candidate for the new state. It has no clock, uid source or I/O. The
// object's owner calls it.
//
// A mutation takes three steps:
//
//	Prepare  builds the desired tree, from the body or from the current state and a patch; checks
//	         preconditions; sets defaults; restores fields that clients may not set; updates
//	         managed fields
//	Admit    runs the admission plugins that mutate or reject the change
//	Finish   allocates unique values, validates, encodes, and compares with the current state:
//	         an equal candidate is a no-op
//
// Managed fields are updated before admission, so fields that admission adds have no manager.
//
// If plugins may block (request.MayBlock), Wait replaces Finish and runs on another goroutine while
// the owner continues. The owner then checks that the state is still current.
package mutation
