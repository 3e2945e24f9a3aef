// Package request holds what is asked of a store and what it answers: the common
// language of the front, which makes requests out of HTTP, and of the owners of
// objects, which answer them. Everything here is plain data.
package request
