// Package http is the front of the server: it runs the filters, routes requests, and writes every answer.
// What it stands on lies beneath it, in packages that do not know the front:
//
//	internal/wire         connections, heads and bodies: what comes is read strictly and within bounds
//	internal/requestinfo  the request target, split once into verb, group, version, resource and name
//	internal/negotiate    in which encoding and shape a client wants its answer
//	internal/requestbody  objects and options, decoded
//	internal/params       the parameters of lists, watches, writes and deletes
//	internal/represent    objects, lists and events in the format that was negotiated
//	internal/credentials  what a request proves itself with: hidden, and kept for watches
//	internal/origin       what pages in browsers may do
//	internal/warning      the Warning headers of answers
//	internal/deadline     contexts whose timer is made when it is needed
//	internal/limits       slots and bytes that requests take from each other
//	internal/response     bodies that are written piece by piece
//	internal/stream       watches on connections that were taken over, and WebSocket frames
//	internal/proxy        requests that are passed on to other servers
//	internal/connect      where requests to Pods, Services and Nodes go
//	internal/console      the pages for people in browsers
//	internal/translate    WebSockets of clients into the SPDY of containers' runtimes
//	internal/discovery    the documents that describe what is served
//	internal/metrics      counts of requests, and what /metrics writes
//	internal/apierrors    the failures that the front finds by itself
//
// and beside them
//
//	aggregation           the servers that extend the API: who they are, how they are reached, what they serve
//
// Its own nouns:
//
//	Server           owns the listener, the connections and the watches
//	connection       what the front keeps of one connection; it answers its requests (wire.Handler)
//	requestContext   one request and its answer; handlers are functions of it that return an error
//	state            how far a request has come, and who writes its response
//	Store            what the front needs of the store
//	Operation        answers a create of which nothing is stored, such as a review
//
// # The way of a request
//
// connection.ServeRequest makes a requestContext and runs the filters (filters.go) in this order: panic recovery, strictness, target, info, CORS, deadline, authentication, audit, origin,
// impersonation, limits of requests in flight, authorization. Then Server.route (route.go) calls the handler
// of a fixed path, or finds the kind, negotiates the format and calls the handler of the verb: read.go,
// write.go, apply.go, delete.go, watch.go. Whatever returns an error is answered by Server.writeError
// (status.go). The audit goes on until the answer is there.
//
// # What always holds
//
//   - Every request gets exactly one answer, by status.go if it is an error.
//   - Nothing decides on the path that fasthttp has normalized, nor on headers behind a body.
//   - Whatever creates an object needs the verb create: an update or an apply of an object that does not
//     exist, too.
//   - A body stays with the client until it is known who asks, and that they may. Until it is there its
//     request is not counted as in flight.
//   - Headers are in the order in which they came: none is taken out, those that were believed
//     are hidden.
//   - No list is put together: it is written from the store's objects piece by piece, and the
//     memory of answers that are being written has a bound for all together.
//   - A body that cannot be written to its end is cut, so that it is not well formed; one of which
//     nothing has gone out yet is a 500 instead.
//   - The answer to a watch has the headers of every other answer: its head is a copy of them.
//   - A watch ends, with an event that says why, within a second of the moment when its request
//     would be refused.
//   - The number of metric series is bounded by the catalogue.
//
// # Fixed paths
//
// Resources are routed by their Info. Everything else (health, metrics, version, discovery, OpenAPI, the console)
// is a fixedRoute, found by its path in a map.
//
// # Watches on the wire
//
// A watch answers HTTP/1.1 200 with Transfer-Encoding: chunked and Connection: close,
// since the connection ends with it. Each flush is one chunk
// and holds whole events: in JSON `{"type":T,"object":O}` and a line feed each; in
// Protobuf a length of four bytes, big endian, and a WatchEvent whose object is an
// enveloped message; in CBOR a document, a map of type and object. The chunk of length zero ends it. To HTTP/1.0 the same goes without chunks,
// and the end of the connection ends it.
//
// A watch that asks to be upgraded to a WebSocket (RFC 6455, version 13) answers 101, and
// each event is one unfragmented message: in JSON a text frame of the same line, in
// Protobuf a binary frame of the WatchEvent without the length, in CBOR one of the document. Pings are answered, data
// is ignored up to 64 KiB. The server ends with a close frame: 1000 at the end of the
// watch, the client's own code where the client closes, 1002 and 1009 for its faults.
// Errors that are known beforehand are plain answers instead of the 101. The first
// sub-protocol that is offered is taken; one that begins with
// base64url.bearer.authorization.platform.io. holds a token instead.
package http
