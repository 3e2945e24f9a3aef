// Package ctrlwebhook lets the public library in which most admission webhooks are written loose on the daemon: servers with and
// without a manager, handlers of every sort that the library makes, and its installer of configurations.
// The cases are those of the library's own suites, and what authors of webhooks build on them.
//
// One daemon in process, under the names of existing clients, serves all tests; each has webhooks that are asked
// about a namespace of its own.
//
// Noun: a site, which is a namespace, the certificates of a webhook server, and what is installed for it.
package ctrlwebhook
