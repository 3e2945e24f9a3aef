// Package warning writes Warning headers (RFC 7234, 299), which clients show to users.
//
//	List         the warnings of a response: unique and bounded
//	Deprecation  the warning for a version to be removed
package warning
