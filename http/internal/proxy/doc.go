// Package proxy forwards requests to other servers: aggregated servers, Services, Pods, Nodes, and
// kubelets.
//
//	Backend     how servers of one kind are reached: TLS, connection pool
//	Target      where a request goes and how it is changed
//	Exchange    a request, its response, and what may end them early
//	Tunnel      two upgraded connections, copied both ways
//	Translator  translates between different upgrade protocols of client and backend
//
// The front has authenticated and authorized the request, and its body is still unread. Everything
// is streamed: bodies take one buffer each, every piece is flushed on arrival, compressed content
// stays compressed, and trailers follow chunks. net/http's Transport uses HTTP/2 with backends that
// offer it. An upgrade has its own HTTP/1.1 connection.
//
// Invariants:
//   - Client credentials are not forwarded: the front hides them, and a Target strips others.
//     Hop-by-hop headers (Connection and those it names, Keep-Alive, TE, Transfer-Encoding,
//     Upgrade, ...) are removed in both directions, except as an upgrade needs.
//   - Redirects are never followed, but forwarded or refused.
//   - A connection is upgraded only after a 101 for a requested protocol. Other responses are
//     forwarded as they are, and the backend connection is closed. Upgrades to HTTP/2 (h2c) are
//     ignored, since requests in it would not be checked.
//   - A client that disconnects ends its request to the backend. A backend that disconnects ends
//     the response in a way that cannot be mistaken for its end.
//   - An Exchange is stopped by a shutdown, and revoked with the permission by which it runs
//     (stream.LongRunning).
package proxy
