// Package worker runs commands of a command-line program one after another in one process. Package
// client starts such processes as workers.
package worker
