// Package command is the command line of troupe: commands to run and maintain a server, and the
// client commands of internal/client. Each file declares one command; root.go lists them.
package command
