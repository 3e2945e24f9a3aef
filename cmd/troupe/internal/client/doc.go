// Package client makes of troupe a client of any server of these conventions, in either naming profile. Each command has a file. What
// kinds there are, how they are shown and what may be done with them is asked of the server (package discovery): no kind is known
// beforehand, but to the commands that make or approve one.
//
//	rest       requests, failures, warnings
//	discovery  what is served, and what words name of it
//	document   objects as JSON and YAML
//	manifest   objects in files
//	printer    formats, tables, paths
//
// A session is one run of a command: its connection, what the server serves, and where it reads and writes. Words and exit codes are
// those that users of kubectl know, where the same is done.
package client
