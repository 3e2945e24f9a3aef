// Package selector parses label and field selectors and matches objects against them.
//
// Labels and Fields are lists of requirements that must all hold. The zero value of either selects
// everything. Selectors are immutable. Matching does not allocate.
//
// Syntax and error messages match Kubernetes.
//
// Label selectors are comma-separated requirements, with optional white space between tokens:
//
//	key            the label exists
//	!key           the label does not exist
//	key=v key==v   the label is v
//	key!=v         the label does not exist, or is not v
//	key in (v,w)   the label is one of the values
//	key notin (v)  the label does not exist, or is none of the values
//	key>1 key<1    the label is an integer above or below 1
//
// Field selectors are field=value, field==value or field!=value, separated by commas. In a value, a
// backslash escapes a backslash, a comma or an equals sign.
package selector
