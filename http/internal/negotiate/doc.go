// Package negotiate finds the representation in which a client wants its answer, and tells in which one
// it has sent its body.
//
// Its nouns:
//
//	Encoding  JSON, YAML, Protobuf or CBOR
//	Shape     the whole object, a Table, or the metadata alone
//	Format    both together: what an Accept header was answered with
//	Names     media types and API groups in the spelling of the naming profile
//
// Among items of equal weight the first one wins, as clients of these conventions expect: they list what
// they prefer first and give no weights. A shape is part of the negotiation, for a client says what it
// falls back to when a server has no tables.
package negotiate
