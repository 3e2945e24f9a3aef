// Package aggregation knows the servers that extend the API: for which versions of which groups requests are passed on
// to a server behind a Service, whether that is available, and what it serves.
//
// Its nouns:
//
//	APIService  who serves a version of a group: this server, or another one
//	Servers     all of them, as the objects say
//	Server      the other server of one version
//	backend     an address with its authorities: its connections, and what it was last known to serve
//
// APIServices are followed like what policy decides by: who writes one is answered when requests are routed accordingly.
// Servers with the same address and authorities share a backend. A backend is asked in the background for what
// it serves, its discovery and its OpenAPI documents: at once when it is new or has changed, when it becomes available,
// from time to time, and after failures with growing pauses. No request of a client waits for that; what a
// server has said last is shown until it says something else, and is marked as stale if it does not answer.
//
// What always holds:
//   - A backend gets the identity of a user only over a connection on which it has proved, by the authorities of its
//     APIService, to be who it should be; unless that skips this.
//   - Identity headers of a client never reach a backend, under whatever names backends were told to believe.
//   - What a backend serves is bounded: its documents in bytes, each question in time, and all that is kept of
//     all backends in bytes.
//   - A redirect is never followed, neither for a client nor by the questions of this package.
//   - The group of APIServices is always served here.
package aggregation
