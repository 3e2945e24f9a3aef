// Package credentials handles the credentials of a request: they are read once, then hidden, and
// never logged.
//
//	Headers   the headers of a request without the hidden ones
//	Snapshot  the credentials of a watch, to check them again
//	Scheme    the scheme of the Authorization header
//
// Package authn authenticates them.
package credentials
