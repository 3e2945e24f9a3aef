// Package warning writes the Warning headers of answers (RFC 7234, 299), which clients show to their users.
//
// Its nouns:
//
//	List         what one answer warns of, each text once and all of them within bounds
//	Deprecation  the text about a version that is going to be removed
package warning
