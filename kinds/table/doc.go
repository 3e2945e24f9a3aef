// Package table renders objects as Tables and as PartialObjectMetadata. It finds fields in the
// stored JSON (jsontext.Value) instead of decoding whole objects, because a table of thousands of
// objects needs only a few fields of each. The current time is an argument.
//
// # PartialObjectMetadata
//
// The metadata is copied from the stored bytes:
//
//	{"kind":"PartialObjectMetadata","apiVersion":"meta.<domain>/v1","metadata":<bytes>}
//
// # Tables
//
// A TableWriter writes a table piece by piece, so that a whole list is never in memory:
//
//	{"kind":"Table","apiVersion":"meta.<domain>/v1","metadata":{"resourceVersion":"…"},
//	 "columnDefinitions":[{"name","type","format","description","priority"},…],
//	 "rows":[{"cells":[…],"conditions":[…],"object":…},…]}
//
// Built-in kinds declare their columns in the .proto files of kinds/api. The path of a column
// (schema.Column.Path) is one of
//
//	status.phase          the value at a dotted path
//	status.replicas|0     the same, with a fallback if it is absent or an empty string: an
//	                      integer, boolean or string. The default is "<none>" for columns of type
//	                      string and null for others
//	func:age              a function, listed in cellfuncs.go
//	func:count:secrets    a function and its argument
//	func:text:a.b/c|-     the same, with a fallback that is shown if a.b is absent or null
//	json:.spec.list[0]    the JSONPath of a custom kind's column (package jsonpath)
//
// Columns of type date show the elapsed time. A version without columns uses those of the storage
// version or, by default, Name and Created At. Cells show the same text as kubectl.
package table
