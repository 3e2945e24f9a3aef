// Package aggregation tracks the servers that extend the API: which group versions are proxied to
// which Service, whether it is available, and what it serves.
//
//	APIService  the server of a group version: this one or another
//	Servers     all of them
//	Server      the other server of a version
//	backend     an address with its TLS settings: connections and last known documents
//
// APIServices are followed like the objects of policy: once a write of one is answered, requests
// are routed by it. Servers with the same address and TLS settings share a backend. Its discovery
// and OpenAPI documents are refreshed in the background: at once when it is new, has changed, or
// becomes available, then periodically, and after failures with growing intervals. No client
// request waits for that. The last known documents are shown, marked as stale while the backend
// does not answer.
//
// Invariants:
//   - A backend receives user identities only over connections on which it was verified by its
//     APIService's CA bundle, unless that skips verification.
//   - Clients' identity headers never reach a backend, under any name that backends may trust.
//   - All is bounded: documents in bytes, requests in time, and the total kept of all backends in
//     bytes.
//   - Redirects are never followed, neither for clients nor by this package.
//   - The group of APIServices is always served here.
package aggregation
