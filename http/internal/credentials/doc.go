// Package credentials handles what a request proves itself with: it is read once, hidden from then on, and never
// written down.
//
// Its nouns:
//
//	Headers   the headers of a request, less those that have been hidden
//	Snapshot  what a watch was let in by, so that it can be asked for again
//	Scheme    of the header Authorization
//
// Who a credential stands for is found out by package authn.
package credentials
