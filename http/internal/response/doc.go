// Package response writes response bodies in pieces. A list of any length, indented or compressed,
// needs only a few buffers.
//
//	Stream             a body that writes itself and holds the request's permit until it is sent
//	Indenter           indents JSON as it is written
//	Buffered, Gzipped  wrap a function that writes a body
//
// Invariants:
//   - A body that fails halfway ends without its last chunk, so that clients detect the failure. If
//     nothing was sent yet, an error replaces the body.
//   - After a grace period, a client that reads less than 32 KiB per second is disconnected.
//     Otherwise it could hold memory for hours although each write meets its deadline.
//   - Buffers (wire.GetBuffer) and gzip tables are pooled.
package response
