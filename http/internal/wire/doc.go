// Package wire accepts connections, parses requests strictly, and limits the time and memory of
// unauthenticated clients.
//
//	Connections      the open connections: admission and eviction
//	Conn             a connection and the loop that serves its requests
//	Handler          handles the requests of a connection
//	multiplexer      the requests of an HTTP/2 connection, each with its own Conn
//	stream           an HTTP/2 request and its response in HTTP/1.1 form, below such a Conn
//	unknownStreams   the HTTP/2 requests before authentication
//	BodyStream       a request body as a stream
//	certificates     client certificates, deduplicated
//	scheduler        selects the connections that may run; principals take turns
//	AppendSourceIPs  returns the client addresses, from proxies and the connection
//	HeaderFlags      the relevant headers that are present
//
// The phase of a connection (reading a request, idle, active, discarding an unread body, hijacked
// by a watch) determines its deadline and whether it may be evicted.
//
// # Why not fasthttp's server
//
// fasthttp parses heads (RequestHeader) and writes responses (Response), but does not serve the
// connections:
//   - It reads at least the start of a body before it calls the handler. Here a body is not
//     read until the request is authorized. Its buffer then grows as data arrives, within one
//     budget for all bodies.
//   - At its connection limit, it rejects new connections. Here the oldest connection without a
//     complete request is evicted, each principal has a share, and local clients have a reserve.
//   - It accepts ambiguous requests: several lengths, folded lines, bare line feeds, trailers,
//     lower-case methods. Proxies may parse such requests differently (request smuggling).
//   - It does not track hijacked connections, so a shutdown would leave watches running.
//
// # HTTP/2
//
// If enabled, net/http handles the protocol. Each request is converted to an HTTP/1.1 request, and
// its response back to HTTP/2, so that there is only one serving loop and one interpretation of
// requests. The cost is a second parse of each head, a few microseconds.
//
// An HTTP/2 connection counts once. Unauthenticated requests are limited across all connections
// (limits.Streams). Phases, deadlines, and turns belong to the Conn of each request.
//
// # Limits
//
// A head has at most 4 KiB, or 32 KiB for up to 1024 connections at a time. Up to 256 KiB of an
// unread body is discarded to keep the connection open. Each write of up to 64 KiB has a deadline,
// which limits how long a slow client can hold a goroutine.
package wire
