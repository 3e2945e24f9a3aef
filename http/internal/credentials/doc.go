// Package credentials reads a request's credentials once, hides them from later code, and keeps
// them out of logs.
//
//	Headers   the request headers, except hidden ones, for authenticators
//	Snapshot  a copy of a watch's credentials, for rechecking them while the watch runs
//	Scheme    returns the scheme of the Authorization header
//
// Package authn authenticates the credentials.
package credentials
