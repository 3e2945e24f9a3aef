// Package conventions checks specification 1 statement by statement, over the wire: the
// tables of get, list and watch cell by cell, continue tokens, watches, WebSockets,
// field validation and dry runs. COVERAGE.md maps statements to tests.
//
// Nouns: a service, which is one daemon and what most cases need from it, and cases:
// rows of a request and the answer that it must get.
package conventions
