// Package warning writes Warning headers (RFC 7234, code 299), which clients show to users.
//
//	List         the warnings of a response, unique and limited in length
//	Deprecation  the warning about a deprecated version
package warning
