// Package faultinjection injects faults into API requests, to test clients.
//
//	Rule      selects requests and declares the effect on them
//	Injector  holds the rules and decides for each request
//
// Rules apply only to authenticated and authorized requests for resources. Requests for health,
// metrics, discovery and the rules themselves are exempt.
//
// # Effects
//
// An effect is something that a Kubernetes API server may do at any time:
//
//   - Conflict and TooManyRequests change nothing.
//   - After InternalError, ServiceUnavailable, Timeout and Drop, the client does not know whether a
//     write took place. With afterCommit, it did.
//   - EndWatch ends a watch like a timeout. ExpireWatch ends it with a 410 in an ERROR event. Drop
//     cuts the response off. Events sent before are complete and in order.
//   - Stale applies to reads for which an older state is acceptable, because resourceVersion is
//     0 or a minimum. The response is never older than the minimum.
//
// No effect repeats or reorders the events of a watch, or makes other reads stale, because a
// Kubernetes API server never does so.
//
// # Determinism
//
// Each rule has its own random number generator, seeded with the seed and the rule's position. It
// draws one number for each request that it selects. The decisions for the n-th selected request
// are therefore the same in every run, regardless of other requests. The first rule that decides to
// inject a fault takes effect.
package faultinjection
