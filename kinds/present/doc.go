// Package present makes the other representations of objects and of the catalogue:
// metadata only, tables, and discovery documents. It reads stored JSON by skipping over
// it and never decodes whole objects. It has no clock: the time is an argument.
//
// Metadata only, cut out of the stored bytes:
//
//	{"kind":"PartialObjectMetadata","apiVersion":"meta.<domain>/v1","metadata":<bytes>}
//
// A table:
//
//	{"kind":"Table","apiVersion":"meta.<domain>/v1","metadata":{"resourceVersion":"…"},
//	 "columnDefinitions":[{"name","type","format","description","priority"},…],
//	 "rows":[{"cells":[…],"conditions":[…],"object":…},…]}
//
// The path of a column (schema.Column.Path) is one of
//
//	status.phase          the value at a dotted path, as it is in the object
//	status.replicas|0     the same, with what to show when it is absent or empty text;
//	                      a number, a truth value or a text. Without it: "<none>" for
//	                      columns of type string, null for others
//	func:age              a function of the table; functions.go lists them
//	func:count:secrets    a function and its argument
//	func:text:a.b/c|-     the same, with the text to show when a.b is absent or null
//	json:.spec.list[0]    what a path of a custom kind leads to (jsonPath)
//
// Columns of type date show the time since then. A version that declares no columns has
// those of the stored version; where there are none either, they are Name and Created At.
//
// Discovery documents are built once per catalogue and served as they are; an aggregated
// document has an ETag, the quoted upper-case hexadecimal SHA-512 of its bytes.
package present
