// Package tree holds decoded objects: JSON values as Go values, read by typed accessors.
//
// A Tree is one JSON object. A value in it is a Tree, a list ([]any), a string, a bool, an int64,
// a float64 or nil (only below fields that keep unknown content). Bytes stay base64 text, times
// RFC 3339 text, quantities canonical text; an int-or-string is an int64 or a string. No value is a
// plain map[string]any: whatever a library decodes passes through Of first.
//
// Accessors never fail: a field that is absent or of another type reads as the zero value, and a nil
// Tree reads as an empty one. Validation, not reading, tells users what is wrong.
//
// Which equality a caller needs follows from what it decides:
//
//	SameRef        can work be skipped?            one value in memory; compares pointers
//	StrictEqual    do the bytes differ?            the same content, to the letter
//	SemanticEqual  did a user change something?    an absent field equals an empty one
//	JSONEqual      does a JSON Patch test hold?    numbers by value: 1 equals 1.0
//
// Two values that a plan describes never mix int64 and float64 in one field, so only JSONEqual has to
// care. Package ownership has a comparison of its own, which finds the paths that differ.
//
// Paths of fields are those of the JSON form: spec.containers[0].name, data[key].
package tree
