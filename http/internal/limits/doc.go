// Package limits shares the capacity of a server among its principals. Every request has one Permit,
// which records all that it holds and gives it back once.
//
//	Limiter  bounds the requests of one kind in flight
//	Budget   bounds bytes of bodies or of large responses
//	Permit   what one request has acquired of both, released once
//
//	Resource     something bounded that requests hold: connections, watches, requests in flight, bytes
//	Ledger       the accounts of all resources
//	Principal    a user, or an address without one, and what it holds
//	Permit       what one request holds
//	Rejection    the limit that a request has met
//
// These are limits of concurrency, not of rate. Nobody waits here: a request that meets a limit is
// rejected with 429 and names the resource. Waiting is the part of flow control (policy/flowcontrol),
// whose seats a Permit holds, too.
package limits
