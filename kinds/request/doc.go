// Package request holds the requests to a store and its answers. It is the common language of the
// front, which makes requests out of HTTP, and of the store, which answers them; neither imports
// the other.
//
// All is plain data but for the contracts of admission: a Mutation carries what policy has to say about it,
// as an Admission that is computed in the turn of the object's owner, and as a WaitingAdmission that asks
// somebody outside and waits.
package request
