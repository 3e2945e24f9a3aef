// Package credentials reads the credentials of a request once, hides them from later code, and
// keeps them out of logs.
//
//	Headers   the headers of a request without the hidden ones
//	Snapshot  the credentials of a watch, to check them again
//	Scheme    the scheme of the Authorization header
//
// Package authn authenticates them.
package credentials
