// Package http is the front end of the server. It uses these packages, which do not import it:
//
//	internal/wire         connections, request heads and bodies: strict parsing and limits
//	internal/requestinfo  the request target: verb, group, version, resource and name
//	internal/negotiate    encoding and shape of the response
//	internal/requestbody  decoding of objects and options
//	internal/params       parameters of lists, watches, writes and deletes
//	internal/represent    objects, lists and events in the negotiated format
//	internal/credentials  request credentials: hidden, and kept for watches
//	internal/origin       permissions of web pages
//	internal/warning      Warning headers
//	internal/deadline     contexts with lazy timers
//	internal/limits       slots and bytes that requests share
//	internal/response     streamed bodies
//	internal/stream       watches on hijacked connections, and WebSocket frames
//	internal/proxy        requests to other servers
//	internal/connect      targets of requests to Pods, Services and Nodes
//	internal/console      the web console
//	internal/translate    translation from client WebSockets to container runtimes' SPDY
//	internal/discovery    discovery documents
//	internal/apierrors    front-end errors
//	aggregation           the servers that extend the API
//
// Its own types:
//
//	Server           owns the listener, the connections and the watches
//	connection       handles the requests of one connection (wire.Handler)
//	requestContext   one request and its response; handlers are methods that return an error
//	state            a request's progress, and the writer of its response
//	Store            the part of the store that the front end needs
//	Operation        handles a create that stores nothing, such as a review
//	faultySink       injects the end of a watch (policy/faultinjection)
//
// # The path of a request
//
// connection.ServeRequest creates a requestContext and runs the filters (filters.go) in this order:
// panic recovery, head validation, target, info, CORS, deadline, authentication, audit, origin,
// impersonation, in-flight limits, authorization. Then Server.route (route.go) calls the handler of
// a fixed path (fixedRoutes), or finds the kind, negotiates the format and calls the verb's
// handler. Server.writeError (status.go) handles errors. The audit ends once the response is
// complete, before it is sent.
//
// # Invariants
//
//   - Every request gets exactly one response, from status.go if it is an error.
//   - No decision depends on fasthttp's normalized path or on trailers.
//   - Creating an object requires the verb create, even through an update or apply.
//   - A body is read only after authentication and authorization. While a request waits for its
//     body, it is not in flight.
//   - Headers are never removed or reordered. Credentials are hidden instead.
//   - Lists are streamed, never assembled. The memory of all responses together is limited.
//   - If a body fails after its first byte was sent, the response is truncated so that clients
//     detect this.
//   - A watch response has the same headers as other responses: its head is a copy of them.
//   - If a watch request would now be rejected, the watch ends within a second, with an event that
//     gives the reason.
//   - The catalog limits the number of metric series.
//
// # Watches on the wire
//
// A watch response has Transfer-Encoding: chunked and Connection: close. Each flush is one chunk of
// whole events. With HTTP/1.0 there are no chunks. The encodings of an event are:
//
//   - JSON: `{"type":T,"object":O}` and a line feed
//   - Protobuf: a 4-byte big-endian length, and a WatchEvent whose object is an enveloped message
//   - CBOR: a document, a map of type and object
//
// A watch may upgrade to a WebSocket (RFC 6455, version 13). Each event is one unfragmented
// message: a text frame for JSON, and a binary frame for Protobuf (without the length) and CBOR. Up
// to 64 KiB of client data is ignored. The code of the close frame is 1000 at the end of the watch,
// the client's own code if the client closes, and 1002 or 1009 for client errors. The first offered
// subprotocol is selected. One that begins with base64url.bearer.authorization.platform.io.
// contains a token instead.
package http
