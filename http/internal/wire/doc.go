// Package wire takes connections and turns what comes on them into requests: strictly, with bounds on time
// and memory before anybody knows who is asking.
//
// Its nouns:
//
//	Connections  those that are open, who may come in, and who has to go when there are too many
//	Conn         one connection, and the loop that serves its requests one after the other
//	Handler      what answers the requests of one connection; the front's
//	multiplexer  the requests of a connection with HTTP/2, each of which has a Conn of its own
//	stream       what such a Conn reads and writes: one request and its answer in the form of HTTP/1.1
//	BodyStream   a body that is passed on while it comes
//	certificates  those that clients have shown, each held once for all connections of its client
//	scheduler    which connections may use the processors now: those of one client take turns with those of others
//	SourceIPs    the addresses that a request came from, as proxies and the connection say
//	HeaderFlags  which headers a request has that decide how it is dealt with
//
// A connection is in one phase at a time: reading a request, idle between two, active while one is answered,
// discarding a body that was not read, or hijacked by a watch. The phase says which deadline it has and
// whether it may be closed to let others in.
//
// # Why not fasthttp's server
//
// fasthttp parses heads (its RequestHeader) and writes answers (its Response), but it does not serve the
// connections, because of what its server cannot do:
//   - It reads a body, or the beginning of one, before its handler is called, so that anybody may make it hold
//     memory. Here a body stays with the client until the request is authorized; then it takes memory as it
//     comes, under one budget for all bodies.
//   - It bounds connections by refusing the newest one. Here the oldest connection that has not sent a whole
//     request makes room, each address has a share, and clients on this machine have a reserve.
//   - It lets through what is ambiguous: several lengths, folded lines, bare line feeds, headers behind a
//     body, a lower-case method. Proxies read such requests in another way, which is how requests are
//     smuggled past them. ValidateHead and the chunk reader refuse them.
//   - It forgets hijacked connections, so a shutdown would leave watches running.
//
// # HTTP/2
//
// Where it is switched on, net/http speaks the protocol, and a request becomes the bytes of a request of HTTP/1.1, its answer
// the frames of one of HTTP/2. So there is one loop, one meaning of a request, and one way to hijack it: a watch does not know what it
// runs on. Each request costs one more reading of its head and of that of its answer, a few microseconds beside what the protocol takes.
//
// The connection counts as one; of its requests at most 4096, of all connections, may be under way before it is known who asks.
// Phases, deadlines and turns are those of each request's Conn; the protocol itself ends connections that are idle, or that begin and say nothing.
//
// # Bounds
//
// A head has 4 KiB, or 32 KiB for at most 1024 connections at a time. Of a body that the handler has not
// read up to 256 KiB are discarded so that the connection can go on; else it ends with the answer. Each 64 KiB that are
// written have a deadline of their own, so a client that takes nothing never holds a goroutine for longer.
package wire
