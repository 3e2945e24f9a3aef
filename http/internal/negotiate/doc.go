// Package negotiate selects the representation of a response and detects the encoding of a request
// body.
//
//	Encoding  JSON, YAML, Protobuf, or CBOR
//	Shape     the whole object, a Table, or metadata only
//	Format    encoding and shape, selected by an Accept header
//	Names     media types and API groups of the naming profile
//
// If several items of an Accept header have the same weight, the first wins, because clients list
// their preferences in order, without weights. An item may also request a shape. Clients then list
// a fallback after it, for servers without that shape.
package negotiate
