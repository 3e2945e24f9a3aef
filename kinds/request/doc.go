// Package request defines the requests to a store and their results. It is the common language of
// the HTTP layer and the store; neither imports the other.
//
// A Mutation is one change of one object. Its Change says which kind of change, with the data for
// it.
//
// Everything is plain data except for admission: a Mutation carries its plugins. Each is a Mutator
// or Validator of the Attributes of a change, and its Stage says whether it may block.
package request
