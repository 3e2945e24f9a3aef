// Package tree represents decoded objects as Go values with typed accessors.
//
// A Tree is one JSON object. Its values are Trees, lists ([]any), strings, bools, int64, float64
// and nil. nil occurs only below fields with unknown content. Bytes are base64 strings, times are
// RFC 3339 strings, and quantities are canonical strings. An int-or-string is an int64 or a string.
// No value is a plain map[string]any, so Of must convert the output of other decoders.
//
// Accessors never fail. A field that is absent or has another type reads as the zero value, and a
// nil Tree as empty. Validation reports errors.
//
// There are four kinds of equality:
//
//	SameRef        can work be skipped?            one value in memory; compares pointers
//	StrictEqual    do the bytes differ?            exactly the same content
//	SemanticEqual  did a user change something?    an absent field equals an empty one
//	JSONEqual      does a JSON Patch test hold?    numbers by value: 1 equals 1.0
//
// Fields with a plan never mix int64 and float64, so only JSONEqual compares the two. Package
// managedfields has its own comparison, which finds the differing paths.
//
// Field paths are those of the JSON form, such as spec.containers[0].name and data[key].
package tree
