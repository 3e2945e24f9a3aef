// Package tree holds decoded objects: JSON values as Go values, with typed accessors.
//
// A Tree is one JSON object. Its values are Trees, lists ([]any), strings, bools, int64, float64
// and nil (only below fields with unknown content). Bytes are base64 text, times RFC 3339 text,
// quantities canonical text; an int-or-string is an int64 or a string. No value is a plain
// map[string]any: Of converts what libraries decode.
//
// Accessors never fail. An absent field, or one of another type, reads as the zero value, and a nil
// Tree as empty. Reporting errors is up to validation.
//
// There are four equalities:
//
//	SameRef        can work be skipped?            one value in memory; compares pointers
//	StrictEqual    do the bytes differ?            the same content, to the letter
//	SemanticEqual  did a user change something?    an absent field equals an empty one
//	JSONEqual      does a JSON Patch test hold?    numbers by value: 1 equals 1.0
//
// Fields with a plan never mix int64 and float64, so only JSONEqual compares them. Package
// ownership has its own comparison, which finds the differing paths.
//
// Paths of fields are those of the JSON form: spec.containers[0].name, data[key].
package tree
