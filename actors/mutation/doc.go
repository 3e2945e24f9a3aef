// Package mutation computes what a request makes of an object: the current state and a mutation
// go in, a candidate for the new state comes out. It has no clock, source of uids or I/O of its own
// and knows no actors; the object's owner calls it.
//
// A mutation takes three steps:
//
//	Prepare  makes the wanted tree, from the body or from the current state and a patch; checks
//	         preconditions; carries over what clients may not set; moves the ownership of fields
//	         (managedFields); sets defaults
//	Admit    runs the admission plugins that complete or refuse the change
//	Finish   allocates what objects share, validates, encodes, and compares with the current
//	         state: a candidate that equals it is no change at all
//
// Ownership is moved before admission: the fields that an admission adds belong to nobody, since
// no manager asked for them.
//
// Where plugins may block (request.MayBlock), Wait takes the place of Finish. It runs on another goroutine
// while the owner goes on. The state is immutable, and the owner checks afterwards that it is still the
// current one.
package mutation
