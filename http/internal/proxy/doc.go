// Package proxy forwards requests to other servers: aggregated servers, Services, Pods, Nodes, and
// kubelets.
//
//	Backend     pooled connections to servers with the same TLS options
//	Target      a request's destination and the changes to the request
//	Exchange    a request, its response, and the events that may end them early
//	Tunnel      two upgraded connections, with data copied in both directions
//	Translator  translates between the upgrade protocols of client and backend
//
// The caller has authenticated and authorized the request, but has not read its body. Bodies are
// streamed: each needs one buffer, and data is flushed as soon as it arrives. Compressed content
// stays compressed, and trailers of chunked bodies are forwarded. The net/http transport uses
// HTTP/2 with backends that offer it. An upgrade has its own HTTP/1.1 connection.
//
// Invariants:
//   - Client credentials are not forwarded. The caller hides them, and a Target may strip others.
//     Hop-by-hop headers (Connection and those it names, Keep-Alive, TE, Transfer-Encoding,
//     Upgrade, ...) are removed in both directions, except those that an upgrade needs.
//   - Redirects are forwarded or rejected, never followed.
//   - A connection is upgraded only after a 101 for a requested protocol. Other responses are
//     forwarded unchanged, and the backend connection is closed. Upgrades to HTTP/2 (h2c) are
//     ignored, because their requests would be unchecked.
//   - If the client disconnects, the request to the backend ends. If the backend disconnects, the
//     response is cut off so that clients detect this.
//   - A shutdown stops an Exchange, and the loss of the user's permission revokes it
//     (stream.LongRunning).
package proxy
