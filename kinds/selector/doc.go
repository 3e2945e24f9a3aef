// Package selector reads label and field selectors and matches objects against them.
//
// Labels and Fields are the two kinds of selectors, each a list of requirements that must all hold. The
// zero value of either selects everything. A selector is parsed once per request and is immutable;
// matching allocates nothing, because a list or a watch matches every object of a collection. What a
// selector requires of one label or field can be asked (Value, Name), so that an index may be used.
//
// The syntax is that of the API, and errors have its wording, which clients show to users.
//
// Label selectors: requirements separated by commas, white space between tokens:
//
//	key            the label is there
//	!key           it is not
//	key=v key==v   it is there and is v
//	key!=v         it is not there, or is not v
//	key in (v,w)   it is there and is one of these
//	key notin (v)  it is not there, or is none of these
//	key>1 key<1    it is there, is a whole number, and is above or below
//
// Field selectors: field=value, field==value or field!=value, separated by commas. A
// backslash escapes a backslash, a comma or an equals sign in a value.
package selector
