// Package aggregation tracks the servers that extend the API: their group versions, Services,
// availability and discovery.
//
//	APIService  the server of a group version: this one or another
//	Servers     the servers of all APIServices
//	Server      the remote server of a version
//	backend     an address with its TLS settings: connections and last known documents
//
// A write to an APIService takes effect before its response. Servers with the same address and TLS
// settings share a backend.
//
// A backend's discovery and OpenAPI documents are refreshed in the background. A refresh runs when
// the backend is new, has changed, or becomes available, then periodically, and with growing
// intervals after failures. No client request waits for a refresh. While the backend does not
// respond, the last known documents are served, marked as stale.
//
// Invariants:
//   - A backend receives user identities only over connections that its APIService's CA bundle
//     verifies, unless the APIService skips verification.
//   - Clients' identity headers never reach a backend, under any name that backends may trust.
//   - The size of each document and of all documents together is limited.
//   - All requests have a timeout.
//   - Redirects are never followed, neither for clients nor by this package.
//   - This server itself always serves the group of APIServices.
package aggregation
