// Package conversion tests conversion webhooks of custom kinds: real webhooks in the process, over TLS, asked by a real
// daemon over HTTP. The definition of most tests is that of routes, whose version v1 has a host and a port, and whose version
// v2 has both in one text.
package conversion
