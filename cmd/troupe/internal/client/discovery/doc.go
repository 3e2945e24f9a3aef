// Package discovery finds out what a server serves, and what the words of a user name of it. No kind is known beforehand.
//
// A server is asked for its aggregated discovery, in two requests; one that does not have it for a document per group and version.
package discovery
