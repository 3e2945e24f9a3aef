// Package http is the front: it parses requests strictly and once, runs the filters,
// routes, negotiates, streams and writes every answer.
//
// Its nouns:
//
//	Server    owns the listener, the connections and the registry of watches
//	conn      one connection, and the loop that serves its requests: fasthttp parses heads and
//	          writes answers, the rest is here
//	incoming  the body of a request while it comes
//	exchange  one request and its answer; handlers are functions of it that return an error
//	target    the request target, split and decoded once
//	Info      what a request asks for: verb, resource, name; routing, authorization,
//	          metrics and the store all decide on this one value
//	format    the representation that was negotiated for the answer
//	listBody  a list that writes itself, object by object, in every form
//	outlet    what an answer goes out through to its connection
//	answer    a body that is written after the handler, and keeps the request in flight until then
//	hold      what a request takes from others until its answer is written
//	stream    one watch on a hijacked connection
//	access    the right by which watches run, looked after by the guard
//
// The filters, in order: panic recovery, strictness, target, info, CORS, deadline,
// authentication, audit, origin, impersonation, limits of requests in flight, authorization, and then the
// handler. The audit goes on until the answer is there.
//
// What always holds:
//   - Every request gets exactly one answer, by status.go if it is an error.
//   - Nothing decides on the path that fasthttp has normalized, nor on headers behind a body.
//   - Whatever creates an object needs the verb create: an update or an apply of one that is
//     not there, too.
//   - A body stays with the client until it is known who asks, and that they may. Then it takes
//     memory as it comes, under a budget of all bodies; until it is there its request is not
//     counted as in flight. Of one that nobody wants up to 256 KiB are read over, else the
//     connection ends with the answer.
//   - Connections are bounded in total and by address, and so are those that have not sent a whole
//     request; the oldest of these make room, or strangers who wait if these are few. No error of
//     accepting one ends the server.
//   - Headers are in the order in which they came: none is taken out, those that were believed
//     are hidden.
//   - No list is put together: it is written from the store's objects piece by piece, and the
//     memory of answers that are being written has a bound for all together.
//   - A body that cannot be written to its end is cut, so that it is not well formed; one of which
//     nothing has gone out yet is a 500 instead.
//   - Each 64 KiB that are written to a client have a deadline; who takes nothing never holds a
//     goroutine for longer.
//   - A watch ends, with an event that says why, within a second of the moment when its request
//     would be refused (guard.go). While nothing changes that is free, however many there are.
//   - The number of metric series is bounded by the catalogue.
//
// # Watches on the wire
//
// A watch answers HTTP/1.1 200 with Transfer-Encoding: chunked and Connection: close,
// since the connection ends with it. Each flush is one chunk
// and holds whole events: in JSON `{"type":T,"object":O}` and a line feed each; in
// Protobuf a length of four bytes, big endian, and a WatchEvent whose object is an
// enveloped message. The chunk of length zero ends it. To HTTP/1.0 the same goes without chunks,
// and the end of the connection ends it.
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
