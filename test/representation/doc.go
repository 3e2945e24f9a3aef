// Package representation asks for an object of every kind in every representation: JSON,
// YAML, Protobuf, Table and PartialObjectMetadata, alone, in lists and in watches.
//
// Its nouns:
//
//	object          one object of every stored kind, from testdata/objects.yaml
//	representation  what an Accept header asks for
//	table           testdata/tables.txt: the columns and the row of every kind, as
//	                `go test ./representation -update` writes them, for a reader to review
//
// The JSON of an object is what the others are compared with. Protobuf is decoded with the
// public Go types of the API, where this module requires them, else with our own codec.
package representation
