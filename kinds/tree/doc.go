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
// There are three notions of equality: SameRef (one value in memory, at the cost of a comparison of
// pointers), StrictEqual (the same content, to the letter) and SemanticEqual (the same meaning: an
// absent field equals an empty one). Which one a caller needs follows from what it decides:
// whether work can be skipped, whether bytes differ, whether a user changed something.
//
// Paths of fields are those of the JSON form: spec.containers[0].name, data[key].
package tree
