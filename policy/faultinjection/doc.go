// Package faultinjection decides which requests fail on purpose, to test clients.
//
//	Rule      selects requests, and declares the effect on them
//	Injector  holds the rules and decides for each request
//
// Rules apply only to requests for resources. Health, metrics, discovery and the path of the rules
// themselves are exempt. Only requests that are authenticated and authorized count.
//
// # Effects
//
// An effect is something that a Kubernetes API server may do at any time:
//
//   - Conflict and TooManyRequests change nothing.
//   - InternalError, ServiceUnavailable, Timeout and Drop leave open whether a write was made. With
//     afterCommit, it was.
//   - EndWatch ends a watch like a timeout, ExpireWatch with a 410 in an ERROR event, and Drop
//     without the end of the response. The events before are complete and in order.
//   - Stale applies to reads whose client accepts an older state: with resourceVersion 0, or with
//     one as a minimum. The response is never older than the minimum.
//
// There is no effect that repeats or reorders the events of a watch, or that makes any other read
// stale, because Kubernetes rules both out.
//
// # Determinism
//
// Each rule has its own random numbers, which depend only on the seed and the rule's position. It
// takes one for each request that it selects. So the decisions for the n-th selected request are
// the same in every run, whatever else happens. The first rule that decides for a fault wins.
package faultinjection
