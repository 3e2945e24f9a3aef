// Command gen compiles kinds/internal/proto/*.proto with Go alone: it writes the descriptor set
// that the daemon embeds, and the Go types of the options. It finds the folder from
// that of the module. With -check it writes nothing and fails if a file is not current.
package main
