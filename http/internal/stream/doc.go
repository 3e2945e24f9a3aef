// Package stream runs watches on hijacked connections.
//
//	Watch        one watch: writes the events of a store session and notices disconnects
//	Encoder      encodes events; implemented by the caller
//	Framing      how events are separated: chunks, nothing (HTTP/1.0), or WebSocket frames
//	LongRunning  a watch or a proxied request without a deadline
//	Registry     all long-running requests, by grant
//	Grant        the permission for long-running requests, and how to check it
//
// Each watch has two goroutines. The store session's goroutine writes events, and the connection's
// goroutine reads. Only reading detects a disconnect immediately, because a write happens only at
// the next event. The reading goroutine also ends the watch at its timeout.
//
// # WebSocket frames
//
// github.com/gobwas/ws parses client frames according to RFC 6455. The upgrade is an ordinary
// response, because fasthttp has already parsed the request that ws.Upgrade would read. Frame
// headers are appended to the event buffer, which saves an allocation per frame.
package stream
