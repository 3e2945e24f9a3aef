// Command gen compiles the .proto files of kinds/api in pure Go. It writes the descriptor set that
// the daemon embeds, and the Go types of the options. With -check it writes nothing and fails if a
// file is outdated.
package main
