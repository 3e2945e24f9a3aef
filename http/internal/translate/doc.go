// Package translate lets WebSocket clients open streams to containers whose runtimes speak
// SPDY/3.1.
//
//	Commands  maps the channels of a command (v5.channel.k8s.io) to SPDY streams
//	Ports     unwraps SPDY from WebSocket messages (SPDY/3.1+portforward.k8s.io)
//
// # Channels
//
// The first byte of a binary message is its channel: 0 standard input, 1 standard output, 2
// standard error, 3 final status, 4 terminal sizes. The message 255, n closes channel n. Large
// messages are forwarded in pieces without assembling them.
package translate
