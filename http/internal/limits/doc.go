// Package limits bounds what all requests together may use: requests in flight and bytes of memory.
//
//	Limiter  bounds the requests of one kind in flight
//	Budget   bounds bytes of bodies or of large responses
//	Permit   what one request has acquired of both, released once
//
// Each bound has a reserve for system components: when clients overload the server, controllers and
// nodes must be able to go on.
//
// These bound concurrency, not rate, so golang.org/x/time/rate does not apply.
package limits
