// Package present makes the other representations of objects and of the catalogue: metadata only, tables,
// and discovery documents. It never decodes whole objects: it finds what it shows in their stored JSON
// (jsontext.Value), because a table of thousands of objects needs a few fields of each. It has no clock:
// the time that ages are counted to is an argument.
//
// # Metadata only
//
// Cut out of the stored bytes, never encoded anew:
//
//	{"kind":"PartialObjectMetadata","apiVersion":"meta.<domain>/v1","metadata":<bytes>}
//
// # Tables
//
// A table is written piece by piece by a TableWriter, so that a list is never in memory as a whole:
//
//	{"kind":"Table","apiVersion":"meta.<domain>/v1","metadata":{"resourceVersion":"…"},
//	 "columnDefinitions":[{"name","type","format","description","priority"},…],
//	 "rows":[{"cells":[…],"conditions":[…],"object":…},…]}
//
// The path of a column (schema.Column.Path) is one of
//
//	status.phase          the value at a dotted path, as it is in the object
//	status.replicas|0     the same, with what to show when it is absent or an empty string; a number, a
//	                      boolean or a string. Without it: "<none>" for columns of type string, null
//	                      for others
//	func:age              a function of the table; cellfuncs.go lists them
//	func:count:secrets    a function and its argument
//	func:text:a.b/c|-     the same, with the string to show when a.b is absent or null
//	json:.spec.list[0]    what a path of a custom kind leads to (package jsonpath)
//
// Columns of type date show the time since then. A version that declares no columns has those of the
// stored version; where there are none either, they are Name and Created At. The texts in cells are those
// that users of command-line clients know, which is why some of the functions follow rules that the
// fields alone would not suggest.
//
// # Discovery
//
// Discovery documents are built once per catalogue and served as they are; clients ask for them at every
// start. An aggregated document has an ETag, the quoted upper-case hexadecimal SHA-512 of its bytes.
package present
