// Package translate lets clients that speak WebSockets open streams to containers, whose runtimes speak SPDY/3.1.
//
// Its nouns:
//
//	Commands  the channels of a command (v5.channel.k8s.io), each of which becomes a SPDY stream
//	Ports     SPDY in the messages of a WebSocket (SPDY/3.1+portforward.k8s.io), which is taken out of them
//
// # Channels
//
// Each binary message begins with a byte that names its channel: 0 is the standard input, 1 the output, 2 the standard error, 3
// the status in which the command has ended, 4 the sizes of the terminal. The message 255, n closes channel n. What is in
// one message may come in many pieces: none is gathered before it is passed on.
package translate
