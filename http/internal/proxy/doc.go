// Package proxy passes requests on to other servers, and their answers back: to aggregated servers, to Services, Pods
// and Nodes, and to the agents of Nodes.
//
// Its nouns:
//
//	Backend   how servers of one sort are reached: whom to trust, what to prove oneself with, connections that wait
//	Target    where one request goes, and what is changed on the way
//	Exchange  one request, its answer, and what may end them before their end
//	Tunnel    two connections that have been upgraded to another protocol, copied both ways
//	Translator  speaks another protocol with the client than the backend does
//
// The front has authenticated and authorized a request before it comes here, and the body is still with the client.
// Everything passes through as it comes: bodies and answers of any size take a buffer each, every piece is flushed
// when it is there, compressed content stays compressed, and trailers come behind chunks. Outbound, net/http's
// Transport speaks HTTP/2 to backends that offer it; an upgrade has a connection of its own, in HTTP/1.1.
//
// What always holds:
//   - Credentials of the client do not go on: the front hides them, and a Target says which others are stripped. Headers
//     of one connection (Connection and what it names, Keep-Alive, TE, Transfer-Encoding, Upgrade and the like) are not
//     passed on in either direction, but for what an upgrade needs.
//   - A redirect is never followed: it is passed on, or refused.
//   - A connection is upgraded only if the backend has answered 101, to the protocol that was asked for; any
//     other answer is passed on as what it is, and the backend's connection is closed. To HTTP/2 (h2c) nothing
//     is upgraded, for requests in it would pass without being looked at.
//   - A client that goes away ends its request to the backend, and a backend that goes away ends the answer, in a
//     way that nobody takes for its proper end.
//   - An Exchange is stopped by a shutdown, and revoked with the right by which it runs (stream.LongRunning).
package proxy
