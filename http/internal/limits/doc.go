// Package limits shares the capacity of a server among its principals.
//
//	Resource   a limited resource that requests hold: connections, watches, requests in flight, bytes
//	Ledger     the accounts of all resources
//	Principal  a user, or the address of an unauthenticated client, and the resources held
//	Permit     the resources that one request holds, released once
//	Rejection  the limit that a request has exceeded, with the text of its 429 (ledger.go)
//	Item       a watch or body that can be ended for a principal that holds less
//	Owners     items by principal and age
//
// These limits bound concurrency, not rates, and never block. A request beyond a limit is rejected
// with 429 and the name of the resource. Queuing is the task of flow control (policy/flowcontrol),
// whose seats a Permit also holds.
package limits
