// Package worker runs the commands of a command-line program one after the other in one process, for
// the workers of package client.
package worker
