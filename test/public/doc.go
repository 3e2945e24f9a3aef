// Package public lists the public Go types of the API, for the suites that compare with them.
package public
