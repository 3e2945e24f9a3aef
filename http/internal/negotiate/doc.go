// Package negotiate selects the representation of a response and identifies that of a request body.
//
//	Encoding  JSON, YAML, Protobuf, or CBOR
//	Shape     the whole object, a Table, or metadata only
//	Format    encoding and shape, selected by an Accept header
//	Names     media types and API groups of the naming profile
//
// Among equal weights the first wins: clients list their preferences in order, without weights.
// Shape is part of negotiation, because clients name a fallback for servers without tables.
package negotiate
