// Package worker runs commands of a command-line program sequentially in one process. Package
// client starts such processes as workers.
package worker
