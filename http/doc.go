// Package http is the front: it parses requests strictly and once, runs the filters,
// routes, negotiates, streams and writes every answer.
//
// Its nouns:
//
//	Server    owns the listener, the fasthttp server and the registry of watches
//	exchange  one request and its answer; handlers are functions of it that return an error
//	target    the request target, split and decoded once
//	Info      what a request asks for: verb, resource, name; routing, authorization,
//	          metrics and the store all decide on this one value
//	format    the representation that was negotiated for the answer
//	stream    one watch on a hijacked connection
//
// The filters, in order: panic recovery, strictness, target, info, CORS, deadline,
// authentication, audit, impersonation, limits of requests in flight, authorization, and then the
// handler. The audit goes on until the answer is there.
//
// What always holds:
//   - Every request gets exactly one answer, by status.go if it is an error.
//   - Nothing decides on the path that fasthttp has normalized, nor on headers behind a body.
//   - Whatever creates an object needs the verb create: an update or an apply of one that is
//     not there, too.
//   - A write to a client has a deadline; a slow reader never holds a goroutine for longer.
//   - The number of metric series is bounded by the catalogue.
//
// # Watches on the wire
//
// A watch answers HTTP/1.1 200 with Transfer-Encoding: chunked and Connection: close,
// since the connection ends with it. Each flush is one chunk
// and holds whole events: in JSON `{"type":T,"object":O}` and a line feed each; in
// Protobuf a length of four bytes, big endian, and a WatchEvent whose object is an
// enveloped message. The chunk of length zero ends it.
//
// A watch that asks to be upgraded to a WebSocket (RFC 6455, version 13) answers 101, and
// each event is one unfragmented message: in JSON a text frame of the same line, in
// Protobuf a binary frame of the WatchEvent without the length. Pings are answered, data
// is ignored up to 64 KiB. The server ends with a close frame: 1000 at the end of the
// watch, the client's own code where the client closes, 1002 and 1009 for its faults.
// Errors that are known beforehand are plain answers instead of the 101. The first
// sub-protocol that is offered is taken; one that begins with
// base64url.bearer.authorization.platform.io. holds a token instead.
package http
