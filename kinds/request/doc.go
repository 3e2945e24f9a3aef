// Package request defines the requests to a store and their results. The HTTP layer and the store
// use it instead of each other.
//
// A Mutation is one change to one object. Its Change specifies the type and the data of the change.
//
// Requests are plain data, except that a Mutation carries its admission plugins. Each plugin
// mutates or validates a change's Attributes. Its Stage determines whether it may block.
package request
