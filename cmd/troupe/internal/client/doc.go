// Package client implements the client commands of troupe, for servers of either naming profile.
// Each command has its own file. Kinds, tables and verbs come from discovery, except in commands
// that create or approve objects of a particular kind.
//
//	rest       requests, errors, warnings
//	discovery  served resources and name resolution
//	document   JSON and YAML
//	manifest   objects in files
//	printer    output formats, tables, paths
//
// A session is one run of a command with its connection, discovery, and streams. Messages and exit
// codes follow kubectl.
package client
