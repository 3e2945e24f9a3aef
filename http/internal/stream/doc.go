// Package stream runs watches on connections that have been taken over from the server.
//
// Its nouns:
//
//	Watch     one watch: a sink for the events of a session, and the reader that notices its client's end
//	Encoder   makes an event text or Protobuf; the front's
//	Framing   how events are told apart: chunks, nothing (HTTP/1.0), or WebSocket frames
//	LongRunning  what goes on until something ends it: a watch, or a proxied request
//	Registry  all that are long-running, by the grants that they run by
//	Grant     the right by which they run, and the question whether it still holds
//
// Two goroutines share a watch: that of the store's session writes, that of the connection reads. The
// reader sees a client that goes away at once, where a writer would see it at the next event, and it ends
// the watch when its time is up. It is woken by a read deadline that has passed (interruptRead).
//
// A watch ends, with an event that says why, within a second of the moment when its request would be
// refused (reauthorize.go). While nothing changes that costs one comparison, however many watches there are.
//
// # Frames of WebSockets
//
// What clients send is read by github.com/gobwas/ws: heads of frames, the rules of RFC 6455 about them, masks and
// close codes. Not so the rest: the upgrade is an answer like any other here, for fasthttp has parsed its
// request, while ws.Upgrade wants to read it from the connection; and heads of the frames that are sent are
// appended to the buffer of the events, which saves an allocation for each of them.
package stream
