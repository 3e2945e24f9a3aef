// Package request holds the requests to a store and its answers. It is the common language of the
// front, which makes requests out of HTTP, and of the store, which answers them; neither imports
// the other.
//
// A Mutation is one change of one object. Its Change says which, and holds what only that needs.
//
// All is plain data but for admission: a Mutation carries the plugins that it has to pass. Each is a Mutator
// or a Validator that sees the Attributes of a change, and its Stage declares whether it may block.
package request
