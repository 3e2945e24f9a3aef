// Package limits bounds what all requests together may take: slots of requests in flight and bytes of
// memory.
//
// Its nouns:
//
//	Limiter      how many requests of one sort may be in flight
//	Budget       how many bytes may be held at a time, of bodies or of large answers
//	Permit       what one request has taken of both, to be given back once
//
// Each bound has a reserve on top of it, which only parts of the system get: when clients have filled the
// server, its controllers and nodes are those who can make it better.
//
// These are bounds of concurrency, not of rate: nothing is refused for coming often, only for being one too
// many at the same time. Hence they are a counter each, and golang.org/x/time/rate, which counts events
// over time, has no place here.
package limits
