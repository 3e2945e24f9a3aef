// Package command is the command line of troupe: commands to run and maintain a server, and the
// client commands of internal/client.
//
// commands.yaml declares help, arguments and flags of all commands but serve; make generate turns
// it into JSON. The file of a command has its options and the method run.
package command
