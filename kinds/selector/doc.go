// Package selector parses label and field selectors and matches objects against them.
//
// Labels and Fields are lists of requirements that must all hold; the zero value of either selects
// everything. A selector is parsed once per request and is immutable. Matching does not allocate,
// because lists and watches match every object of a collection. Value and Name return required
// values, for lookups in an index.
//
// Syntax and error texts are those of Kubernetes.
//
// Label selectors: requirements separated by commas, with optional white space between tokens:
//
//	key            the label exists
//	!key           it does not
//	key=v key==v   it exists and is v
//	key!=v         it does not exist, or is not v
//	key in (v,w)   it exists and is one of these
//	key notin (v)  it does not exist, or is none of these
//	key>1 key<1    it exists, is a whole number, and is above or below
//
// Field selectors: field=value, field==value or field!=value, separated by commas. A backslash
// escapes a backslash, a comma or an equals sign in a value.
package selector
