// Package aggregation tests the servers that extend the API: how they are registered, found out to be available, asked on
// behalf of users, and told of in the discovery; with servers of the test's own, and with one that is built on the
// public library (cmd/extension).
package aggregation
