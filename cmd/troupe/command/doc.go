// Package command is the command line of troupe: the commands that run a server and look after it, and, from
// internal/client, those of a client.
//
// Each file declares one command. root.go lists them, and Main runs one.
package command
