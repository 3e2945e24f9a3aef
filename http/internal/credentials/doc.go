// Package credentials reads a request's credentials once, hides them from later code, and keeps
// them out of logs.
//
//	Headers   the request headers without the hidden ones
//	Snapshot  a watch's credentials, for rechecks
//	Scheme    the scheme of the Authorization header
//
// Package authn authenticates the credentials.
package credentials
