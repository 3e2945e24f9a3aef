// Package command is the command line of troupe: commands to run and maintain a server, and the
// client commands of internal/client.
//
// commands.yaml declares the help, arguments and flags of all commands except serve. make generate
// translates it into JSON. Each command's file contains its options and run method. backup.go
// contains backup, restore and verify.
package command
