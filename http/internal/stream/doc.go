// Package stream runs watches on hijacked connections.
//
//	Watch        a watch: the sink of a session's events, and the reader that notices disconnects
//	Encoder      encodes events; implemented by the front
//	Framing      how events are separated: chunks, nothing (HTTP/1.0), or WebSocket frames
//	LongRunning  a watch or a proxied request without deadline
//	Registry     all long-running requests, by grant
//	Grant        the permission by which they run, and how to check it
//
// Two goroutines share a watch: the store session's writes, the connection's reads. The reader
// notices a disconnect at once, where a writer would at the next event. It also ends the watch at
// its timeout. A past read deadline wakes it (interruptRead).
//
// A watch ends, with an event that says why, within a second of the moment when its request would
// be refused (reauthorize.go). While nothing changes this costs one comparison, however many
// watches there are.
//
// # WebSocket frames
//
// github.com/gobwas/ws reads client frames: headers, the rules of RFC 6455, masks, and close codes.
// The upgrade is an ordinary response here, because fasthttp has parsed the request, which
// ws.Upgrade reads from the connection. Headers of sent frames are appended to the event buffer,
// which saves an allocation per frame.
package stream
