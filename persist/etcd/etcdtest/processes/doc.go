// Package processes hides platform differences of processes, signals and locks from tests.
package processes
