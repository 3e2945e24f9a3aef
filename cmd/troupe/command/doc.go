// Package command is the command line of troupe: commands to run and maintain a server, and the
// client commands of internal/client.
//
// commands.yaml declares the help, arguments and flags of all commands except serve. make generate
// converts it to JSON. Each command's options and run method are in its own file, except that
// backup.go contains backup, restore and verify.
package command
