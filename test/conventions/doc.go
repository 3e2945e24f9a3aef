// Package conventions checks the conventions that all kinds share, statement by statement, over HTTP:
// the tables of get, list and watch cell by cell, continue tokens, watches, WebSockets,
// field validation and dry runs. COVERAGE.md maps statements to tests.
//
// A testServer is one daemon with the requests that most tests need. Most tests are tables of a
// request and the response that is required.
package conventions
