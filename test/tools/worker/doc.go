// Package worker runs commands of a command-line program sequentially in one process, for the
// workers of package client.
package worker
