// Package mutation computes what a request makes of an object: the current state and
// a mutation in, a candidate out. It is a plain function without clock, identity
// source or I/O of its own; the object's owner calls it and nobody else needs to.
//
// The steps of every write are the same: make the wanted tree (from the body, or from
// the current state and a patch), check preconditions, carry over what clients may not
// set, default, prepare, validate, and compare with what is there. A candidate that
// equals the current state is no change at all.
package mutation
