// Package negotiate selects the representation of a response and detects the encoding of a request
// body.
//
//	Encoding  JSON, YAML, Protobuf, or CBOR
//	Shape     the whole object, a Table, or metadata only
//	Format    encoding and shape, selected by an Accept header
//	Names     media types and API groups of the naming profile
//
// Among equal weights the first item wins, because clients list their preferences in order, without
// weights. An Accept header may also request a shape, followed by a fallback for servers that lack
// it.
package negotiate
