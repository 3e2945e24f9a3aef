// Package limits divides a server's capacity among its principals.
//
//	Resource   a limited resource that requests hold: connections, watches, in-flight slots, bytes
//	Ledger     the accounts of all resources
//	Principal  a user, or an unauthenticated client's address, and the resources it holds
//	Permit     the resources that one request holds until it ends
//	Rejection  the limit that a request has exceeded, and the message of its 429 (ledger.go)
//	Item       a watch or body that can be ended in favor of a principal that holds less
//	Owners     the items of each principal, oldest first
//
// These limits bound concurrency, not rates, and never block. A request that exceeds a limit is
// rejected with 429. A Permit also holds the seats that flow control granted to its request.
package limits
