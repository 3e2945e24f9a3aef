// Package table renders objects as tables, and as their metadata only. It never decodes whole
// objects but finds fields in their stored JSON (jsontext.Value), because a table of thousands of
// objects needs only a few fields of each. It has no clock: the current time is an argument.
//
// # Metadata only
//
// Copied from the stored bytes:
//
//	{"kind":"PartialObjectMetadata","apiVersion":"meta.<domain>/v1","metadata":<bytes>}
//
// # Tables
//
// A TableWriter writes a table piece by piece, so that a list is never in memory as a whole:
//
//	{"kind":"Table","apiVersion":"meta.<domain>/v1","metadata":{"resourceVersion":"…"},
//	 "columnDefinitions":[{"name","type","format","description","priority"},…],
//	 "rows":[{"cells":[…],"conditions":[…],"object":…},…]}
//
// The path of a column (schema.Column.Path) is one of
//
//	status.phase          the value at a dotted path, as in the object
//	status.replicas|0     the same, with a fallback if it is absent or an empty string: a number, a
//	                      boolean or a string. Without it: "<none>" for columns of type string, null
//	                      for others
//	func:age              a function; cellfuncs.go lists them
//	func:count:secrets    a function and its argument
//	func:text:a.b/c|-     the same, with the text to show if a.b is absent or null
//	json:.spec.list[0]    the path of a custom kind's column (package jsonpath)
//
// Columns of type date show the elapsed time. A version without columns has those of the stored
// version or, without those, Name and Created At. The texts in cells are those of kubectl, which is
// why some functions follow rules that the fields do not suggest.
package table
