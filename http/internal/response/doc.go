// Package response has response bodies that are written in pieces: lists of any length, indented or
// compressed, take a few buffers.
//
//	Stream             a body that writes itself, and holds the request's permit until written
//	Indenter           indents JSON as it is written
//	Buffered, Gzipped  wrap the writing of a body
//
// Invariants:
//   - A body that fails halfway is cut before its last chunk, so that clients do not take it for
//     complete. If none of it was sent, an error replaces it.
//   - A client that reads less than 32 KiB a second, after a grace period, is disconnected: each of
//     its writes may be in time while the whole would hold memory for hours.
//   - Buffers (wire.GetBuffer) and gzip tables, the largest memory of a response, are pooled.
package response
