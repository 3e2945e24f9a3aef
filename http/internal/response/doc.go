// Package response holds bodies of answers that are written piece by piece: lists of any length, pretty or
// compressed, take a few buffers and never exist as a whole.
//
// Its nouns:
//
//	Stream    a body that writes itself, and keeps what its request has reserved until it is written
//	Indenter  lays JSON out for people while it passes
//	Buffered, Gzipped  what stands between a body and its connection
//
// What always holds:
//   - A body that fails half-way is cut before its last chunk, so that no client takes a part for the whole;
//     one of which nothing has gone out yet is replaced by an error.
//   - A client that takes a body more slowly than 32 KiB a second, once its first time is up, is given up:
//     each of its writes may be in time while the whole holds memory for hours.
//   - The small buffers are shared (wire.GetBuffer), and so are the tables of gzip, which are the largest
//     thing that an answer takes.
package response
