// Package request holds what is asked of a store and what it answers. It is what the HTTP front, which
// makes these requests, and the owners of objects, which answer them, have in common; neither imports the
// other. Everything here is plain data, and none of it is changed after it was sent.
package request
