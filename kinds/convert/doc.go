// Package convert converts objects between the version in which they are stored and the versions and
// sub-resources in which they are served.
//
// An object has one stored version (schema.Kind.Stored). Another version of its kind, or a kind of
// another group that shares the storage, is converted by a schema.Conversion; a sub-resource with a kind
// of its own (scale, for example) is computed by a schema.View. Both lose nothing that a write back would
// need. An object that is asked for in its stored version is answered as it is, without decoding it.
//
// The conversions here are computation only, and cannot fail on stored objects that are intact. A
// Converter is the contract for those that ask somebody outside, and may wait and fail.
package convert
