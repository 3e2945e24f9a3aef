// Package limits divides a server's capacity among its principals.
//
//	Resource   a limited resource that requests hold: connections, watches, in-flight slots, bytes
//	Ledger     the accounts of all resources
//	Principal  a user, or an unauthenticated client's address, and the resources held
//	Permit     the resources that one request holds, released once
//	Rejection  the limit that a request has exceeded, with the text of its 429 (ledger.go)
//	Item       a watch or body that can be ended in favor of a principal that holds less
//	Owners     items by principal and age
//
// These limits bound concurrency, not rates, and never block. A request beyond a limit is rejected
// with 429 and the name of the resource. Flow control (policy/flowcontrol) queues requests. A
// Permit also holds its seats.
package limits
